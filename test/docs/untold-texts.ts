/** Texts that nobody is ever told, or not alone, and why. */
export const UNTOLD: readonly { file: string; text: RegExp; because: string }[] = [
  { file: 'redis/lua-script', text: /local function/, because: 'Lua' },
  { file: 'timestamp-compat/timestamp-compat', text: /local function/, because: 'Lua' },
  { file: 'redis/server-health', text: /^local key = KEYS/, because: 'Lua' },
  { file: 'redis/rights', text: /local refused/, because: 'Lua' },
  { file: 'redis/redis-connection', text: /^return redis\.call/, because: 'Lua' },
  { file: 'redis/store-failure', text: /^asking auth /, because: 'names of commands' },
  { file: 'redis/server-probe', text: /^-ERR max number/, because: 'what Redis says' },
  { file: 'redis/lua-script', text: /^A script that counts/, because: 'our own mistake' },
  ...[
    'cluster/redis-cluster',
    'redis/redis-connection',
    'dialects/dialect-lock',
    'redis/replica-acks',
  ].map((file) => ({ file, text: /^the caller gave up$/, because: 'heard by nobody' })),
  { file: 'errors/refusals', text: /\?(?:$| It can be shared)/, because: 'a guess in brackets' },
  { file: 'errors/refusals', text: /^"<…>" was wanted/, because: 'the stack' },
  { file: 'quorum/quorum-limits', text: /^(?:hand|share|count) /, because: 'a part of a text' },
  { file: 'locks/preconditions', text: /no lease is longer than/, because: 'says what is right' },
  { file: 'redis/server-check', text: /^(?:maxmemory|Redis has no)/, because: 'a remedy follows' },
];

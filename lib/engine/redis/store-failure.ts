import {
  type CommandOutcome,
  ForeignLockError,
  LockOptionsError,
  LockStoreError,
} from '../errors/index.js';

/** The meaning of each code in a server's answer. The answer itself is never shown: it may name users. */
const CODES: Readonly<Record<string, string>> = {
  OOM: 'Redis is out of memory (OOM)',
  BUSY: 'Redis is busy with a slow script (BUSY)',
  LOADING: 'Redis is loading its data (LOADING)',
  READONLY: 'this Redis is a read-only replica (READONLY)',
  MASTERDOWN: 'the primary of this replica is down (MASTERDOWN)',
  NOREPLICAS: 'too few replicas are connected (NOREPLICAS)',
  MISCONF: 'Redis cannot write to its disk (MISCONF)',
  CLUSTERDOWN: 'the cluster is down (CLUSTERDOWN)',
  NOAUTH: 'Redis asks for a password (NOAUTH); set it in option "redis"',
  DENIED: 'Redis is in protected mode (DENIED): bind it to an address, or set a password',
  WRONGPASS: 'Redis refused the user or password (WRONGPASS)',
};
const CODE = new RegExp(`\\b(${Object.keys(CODES).join('|')})\\b`);
/** The codes after which a retry cannot help. */
const FINAL = /NOAUTH|DENIED|WRONGPASS/;

const RIGHTS = 'see "Redis rights" in docs/operations.md';

/** The meaning of answers without a code of their own, by their text. */
const TEXTS: readonly { text: RegExp; says: string; retryable?: boolean }[] = [
  {
    text: /max number of clients/,
    says: 'Redis has as many clients as it may have (maxclients)',
    retryable: true,
  },
  {
    text: /cluster support disabled/,
    says: 'this Redis is no node of a Cluster: give it as option "redis" itself, without "cluster"',
  },
  {
    text: /DB index is out of range/,
    says: 'Redis has no database of this number: correct "db" in option "redis", or the path of its URL',
  },
  {
    text: /SELECT is not allowed in cluster mode/,
    says: 'a Cluster has database 0 alone: correct "db" in option "redis", or the path of its URL',
  },
  {
    text: /unknown (redis )?command called/i, // Valkey from 9.0 on leaves out "Redis"
    says: 'a script called a command that Redis does not know: it is disabled or renamed there, or this Redis is older than 6.2',
  },
  {
    text: /^(?!.*(killed|not enough memory)).*(user_script|error (running|compiling) script|script: [\da-f]{40})/is,
    says: 'a script failed (ERR): locks need Redis 6.2 or later, and all commands of "Redis rights" in docs/operations.md',
  },
];

/** The error of ioredis if no Sentinel names a primary; the last Sentinel's answer follows. */
const NO_PRIMARY = /^All sentinels are unreachable/;
const SENTINELS: readonly { text: RegExp; says: string; retryable?: boolean }[] = [
  {
    text: /No such master|after [\d.]+ms\.$/, // without "updateSentinels" their nil is no error, and nothing follows
    says: 'the Sentinels know no primary of this name: correct "name" in option "redis"',
    retryable: true, // somebody may tell the Sentinels the name later
  },
  {
    text: /\b(NOAUTH|WRONGPASS)\b/,
    says: 'the Sentinels refuse the user or password: set "sentinelPassword" in option "redis"',
  },
  {
    text: /unknown command/i,
    says: 'what answers there is no Sentinel: correct "sentinels" in option "redis"',
  },
  {
    text: /^/,
    says: 'no Sentinel answers: start one, or correct "sentinels" in option "redis"',
    retryable: true,
  },
];

/** The commands that the library sends: the only words of an answer that are repeated. */
const SENT =
  'asking auth client cluster eval evalsha hello info publish scan script select sentinel subscribe time unsubscribe wait';
const UNKNOWN = /\bunknown command\b(?! called from)/i;
const NAMED = new RegExp(`unknown command [^\\w]?(${SENT.replaceAll(' ', '|')})\\b`, 'i');

/** A server's words for a missing right: to a command, or to one in a script, from Redis 7.2 on and before. */
export const LACKS_RIGHT = /\bNOPERM\b|ACL failure|user executing the script can't/;

/** A code that an operating system or ioredis puts on an error: letters only, so no secret. */
const SYSTEM_CODE = /^[A-Z_]{3,40}$/;

const UNTRUSTED = 'give the authority in "tls": { ca }';
/** The remedy for a refused certificate: another attempt does not help. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate does not name the host: set "tls": { servername }',
};

/** The words of a Cluster node for a command in a script whose keys it has no more, up to Redis 7.0 and since. */
const HALF_WAY =
  /\b(non local key|access a slot not served|in script (attempted|because undeclared))\b/;

const REDIRECTION = /^(?:(MOVED|ASK) \d+ (\S+)|(TRYAGAIN)\b)/;

/** A node of a Cluster answered that it did nothing, because the lock's slot lives elsewhere, or is on its way there. */
export class Redirection extends LockStoreError {
  override readonly name = LockStoreError.name; // callers know the parent class alone

  constructor(
    says: string,
    key: string | undefined,
    /** What happened to the slot: `moved` means for good, `ask` for one command, `tryagain` that no node can serve it now. */
    readonly kind: 'moved' | 'ask' | 'tryagain',
    /** `host:port`; an empty host is that of the node that answered, `?` means that the node has none. */
    readonly address: string,
  ) {
    super(`${subjectOf(key)}: ${says}.`, { key, outcome: 'refused', retryable: true });
  }
}

/** The error of a failed command. Only names and codes are taken over from `error`. */
export function storeFailure(
  error: unknown,
  key: string | undefined,
): LockStoreError | ForeignLockError {
  if (error instanceof LockStoreError) return error;
  const text = error instanceof Error ? error.message : '';
  const [, moved, address = '', again] = REDIRECTION.exec(text) ?? [];
  if (again) return new Redirection('the slot is moving (TRYAGAIN)', key, 'tryagain', address);
  if (moved) {
    const says = `the slot is on another node of the Cluster (${moved})`;
    return new Redirection(says, key, moved === 'ASK' ? 'ask' : 'moved', address);
  }
  if (/\bWRONGTYPE\b/.test(text)) return new ForeignLockError(key ?? '', 'unknown');
  if (HALF_WAY.test(text)) {
    return failure('its slot was moving, and a script stopped half-way', key, 'unknown', true);
  }
  if (NO_PRIMARY.test(text)) {
    const { says, retryable = false } = SENTINELS.find((each) => each.text.test(text))!;
    return failure(says, key, 'unsent', retryable);
  }
  if (LACKS_RIGHT.test(text)) return failure(lackedIn(text), key, 'refused', false);
  const [code] = CODE.exec(text) ?? [];
  if (code) return failure(CODES[code]!, key, 'refused', !FINAL.test(code));
  if (UNKNOWN.test(text)) return failure(unknownCommand(text), key, 'refused', false);
  const known = TEXTS.find((each) => each.text.test(text));
  if (known) return failure(known.says, key, 'refused', known.retryable ?? false);
  const system = systemCodeOf(error);
  const [word] = /^[A-Z]+\b/.exec(text) ?? [];
  const outcome = isServerAnswer(error) ? 'refused' : 'unknown';
  const says =
    outcome === 'refused'
      ? `Redis answered with an error${word ? ` (${word})` : ''}`
      : 'the connection to Redis failed';
  if (system === undefined) return failure(says, key, outcome, true);
  const remedy = CERTIFICATES[system];
  const why = remedy === undefined ? '' : `: ${remedy}`;
  return failure(`${says} (${system})${why}`, key, outcome, remedy === undefined);
}

/** The code that an operating system, OpenSSL or ioredis gives an error. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && SYSTEM_CODE.test(code) ? code : undefined;
}

/** The code by which a failure is known: of Redis, of an operating system, of OpenSSL or of ioredis. */
export function causeOf(error: unknown): string | undefined {
  return /\((\w+)\)/.exec(storeFailure(error, undefined).message)?.[1];
}

/** The missing right, as far as Redis names it; no user, no key. */
function lackedIn(text: string): string {
  const [, command] = /to run the '([a-z]+(?:\|[a-z]+)?)' command/.exec(text) ?? [];
  if (command) return `the Redis user lacks the right +${command} (NOPERM); ${RIGHTS}`;
  const [, what] = / access (?:a|one of the|at least one of the) (key|channel)/.exec(text) ?? [];
  return `the Redis user lacks a right${what ? ` to a ${what}` : ''} (NOPERM); ${RIGHTS}`;
}

function unknownCommand(text: string): string {
  const name = NAMED.exec(text)?.[1]?.toUpperCase() ?? 'that locks need';
  return `Redis does not know the command ${name}: it is disabled or renamed there, or this is a Sentinel or a proxy. Enable it, or give another server`;
}

/** Whether a node of a Cluster says that it serves no slot, or not this one. */
export function isDown(error: unknown): boolean {
  return error instanceof LockStoreError && error.message.endsWith(' (CLUSTERDOWN).');
}

/** The message of a failure without its subject, for another subject. */
export function saysOf({ message }: Error): string {
  return message.replace(/^The lock store failed: /, '').replace(/\.$/, '');
}

/** The error of a server that a check found unfit. */
export function unfit(says: string, retryable = false): LockStoreError {
  return new LockStoreError(`${says}.`, { outcome: 'refused', retryable });
}

/** The error of a failed start: which server could not be used, and why. An error that says so already stays as it is. */
export function unusable(where: string, error: unknown, within = ''): Error {
  if (error instanceof LockOptionsError) return error;
  const failure = storeFailure(error, undefined);
  if (failure.message.includes(' could not be used')) return failure;
  const retryable = !(failure instanceof LockStoreError) || failure.retryable;
  const message = `${where} could not be used${within}: ${saysOf(failure)}.`;
  return new LockStoreError(message, { outcome: 'unsent', retryable });
}

/**
 * Why a server took none of the runs of one command, although each may be taken alone. NOSCRIPT: it does not know the
 * script; NOPERM: the user has no right to one of the keys. TOGETHER: it takes no such keys together, by CROSSSLOT of a
 * Cluster node that was taken for a Redis, or by a proxy's own error. Each step catches its own errors.
 */
export function refusesAll(error: Error): 'NOSCRIPT' | 'NOPERM' | 'TOGETHER' | undefined {
  if (!isServerAnswer(error)) return undefined;
  const [code] = /\b(NOSCRIPT|NOPERM)\b/.exec(error.message) ?? [];
  if (code) return code as 'NOSCRIPT' | 'NOPERM';
  return CODE.test(error.message) ? undefined : 'TOGETHER';
}

/** The error of a command without an answer in time: it may have run, or may still run. */
export function noAnswer(key: string | undefined, timeout: number): LockStoreError {
  return failure(`Redis did not answer within ${timeout} ms`, key, 'unknown', true);
}

/** The error of a command whose reply does not fit it: it may have run, or may still run. */
export function garbled(key: string | undefined): LockStoreError {
  return failure('what Redis answered is no answer to the command', key, 'unknown', true);
}

/** The error of a command that took effect, where Redis refuses for good to say whether replicas have it. */
export function unconfirmed(key: string | undefined, refusal: LockStoreError): LockStoreError {
  return failure(saysOf(refusal), key, 'unknown', false);
}

/** The error of a command that was never sent. */
export function notSent(key: string | undefined, why = 'Redis is not connected'): LockStoreError {
  return failure(why, key, 'unsent', true);
}

function failure(
  says: string,
  key: string | undefined,
  outcome: CommandOutcome,
  retryable: boolean,
): LockStoreError {
  return new LockStoreError(`${subjectOf(key)}: ${says}.`, { key, outcome, retryable });
}

function subjectOf(key: string | undefined): string {
  return key === undefined ? 'The lock store failed' : `The lock store failed for lock "${key}"`;
}

function isServerAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

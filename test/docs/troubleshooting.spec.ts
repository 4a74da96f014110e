import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as library from 'nest-redis-lock';
import { type Message, messagesOfLib } from './messages.js';

const page = plain(readFileSync('docs/troubleshooting.md', 'utf8'));

/** Texts of lib that nobody is ever told, and why. */
const UNTOLD: readonly { file: string; text: RegExp; because: string }[] = [
  { file: 'lib/engine/fencing/guarded-script.ts', text: /\bredis\.call\b|^local /, because: 'Lua' },
  {
    file: 'lib/engine/locks/timestamp-compat/timestamp-compat.ts',
    text: /local function/,
    because: 'Lua',
  },
  { file: 'lib/engine/redis/lua-script.ts', text: /local function/, because: 'Lua' },
  { file: 'lib/engine/redis/server-health.ts', text: /^local key = KEYS/, because: 'Lua' },
  { file: 'lib/engine/redis/rights.ts', text: /local refused/, because: 'Lua' },
  { file: 'lib/engine/redis/redis-connection.ts', text: /^return redis\.call/, because: 'Lua' },
  { file: 'lib/engine/fencing/guarded-script.ts', text: /^MSET /, because: 'names of commands' },
  {
    file: 'lib/engine/redis/store-failure.ts',
    text: /^asking auth /,
    because: 'names of commands',
  },
  {
    file: 'lib/engine/redis/server-probe.ts',
    text: /^-ERR max number/,
    because: 'what Redis says',
  },
  {
    file: 'lib/engine/redis/lua-script.ts',
    text: /^A script that counts|^Script <…> needs a key/,
    because: 'our own mistake',
  },
  {
    file: 'lib/engine/redis/cluster/redis-cluster.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  {
    file: 'lib/engine/redis/redis-connection.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  {
    file: 'lib/engine/locks/dialects/dialect-lock.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  {
    file: 'lib/engine/redis/replica-acks.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  {
    file: 'lib/watch/board/answers.ts',
    text: /^no-store|^default-src|^application/,
    because: 'headers',
  },
  { file: 'lib/watch/board/viewer.ts', text: /^text\/event-stream/, because: 'headers' },
  {
    file: 'lib/watch/board/page.ts',
    text: /^text\/html|'(none|self|script)'|data:$/,
    because: 'headers',
  },
  {
    file: 'lib/watch/opentelemetry/lock-instruments.ts',
    text: /^(How|Calls|Locks|Renewals) /,
    because: 'what a metric is',
  },
  {
    file: 'lib/watch/prometheus/register-lock-metrics.ts',
    text: /^(How|Calls|Locks|Renewals) /,
    because: 'what a metric is',
  },
  {
    file: 'lib/watch/cli/commands/inspect.ts',
    text: /^(kept|foreign):/,
    because: 'the state of a lock',
  },
  {
    file: 'lib/watch/cli/commands/list.ts',
    text: /^No lock is held|^ whose key/,
    because: 'no lock is no error',
  },
  {
    file: 'lib/watch/cli/commands/list.ts',
    text: /^There may be more|--limit\.$/,
    because: 'says what to do',
  },
  { file: 'lib/watch/cli/commands/release.ts', text: / wait for it$|\?$/, because: 'the question' },
  { file: 'lib/watch/cli/commands/watch.ts', text: /^Redis is away$/, because: 'a heading' },
  { file: 'lib/watch/cli/help.ts', text: /\n  doctor /, because: 'the help' },
  {
    file: 'lib/watch/cli/doctor/server-settings.ts',
    text: /^<…> in step|^Redis has an/,
    because: 'all is well',
  },
  ...['compile', 'expressions', 'library', 'operators', 'pattern', 'tokens', 'values'].map(
    (file) => ({
      file: `lib/memory/lua/${file}.ts`,
      text: /^(A <…>|A pattern|The script|end of script|and break)/,
      because: 'our own mistake in a script',
    }),
  ),
  ...[
    'commands/command',
    'commands/index',
    'commands/sorted-sets',
    'keyspace',
    'script-runner',
  ].map((file) => ({
    file: `lib/memory/${file}.ts`,
    text: /^(ERR|WRONGTYPE|Lua redis) /,
    because: 'what Redis says',
  })),
];

const messages = messagesOfLib();
/** What the command shows where nothing is wrong stands on its own page. */
const commandPage = plain(readFileSync('docs/command-line.md', 'utf8'));

function isUntold({ file, text }: Message): boolean {
  return UNTOLD.some((each) => each.file === file && each.text.test(text));
}

/** Without what Markdown adds, and with blanks for line breaks. */
function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\s+/g, ' ');
}

/** Whether the page has a text; what is put into it stands there in angle brackets, or as an example. */
function isOnPage({ file, text }: Message): boolean {
  const parts = plain(text)
    .replace(/^[\s:]+/, '')
    .trim()
    .split('<…>');
  const pattern = parts
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.{0,80}?');
  return new RegExp(pattern).test(file.startsWith('lib/watch/cli/') ? page + commandPage : page);
}

describe('Troubleshooting', () => {
  it.each(
    Object.keys(library).filter(
      (name) => /^\w+Error$/.test(name) && name !== 'LockError' && name !== 'isLockError',
    ),
  )('has a section on %s, with an example', (name) => {
    const [, section] = new RegExp(`## ${name} (.*?)(?= ## [A-Z]|$)`).exec(page) ?? [];
    expect(section).toMatch(/Example[.:]/);
  });

  it('has every text that lib can say', () => {
    const missing = messages.filter((message) => !isUntold(message) && !isOnPage(message));
    expect(missing).toEqual([]);
  });

  it('is excused from no text that lib does not have', () => {
    const idle = UNTOLD.filter(
      (each) => !messages.some(({ file, text }) => each.file === file && each.text.test(text)),
    );
    expect(idle).toEqual([]);
  });
});

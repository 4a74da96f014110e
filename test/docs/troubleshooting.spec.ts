import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as library from 'nest-redis-lock';
import { type Message, messagesOfLib } from './messages.js';

const page = plain(readFileSync('docs/troubleshooting.md', 'utf8'));

/** Texts of lib that nobody is ever told, and why. */
const UNTOLD: readonly { file: string; text: RegExp; because: string }[] = [
  { file: 'lib/fencing/guarded-script.ts', text: /\bredis\.call\b|^local /, because: 'Lua' },
  {
    file: 'lib/locks/timestamp-compat/timestamp-compat.ts',
    text: /local function/,
    because: 'Lua',
  },
  { file: 'lib/redis/lua-script.ts', text: /local function/, because: 'Lua' },
  { file: 'lib/redis/server-health.ts', text: /^local key = KEYS/, because: 'Lua' },
  { file: 'lib/redis/rights.ts', text: /local refused/, because: 'Lua' },
  { file: 'lib/redis/server-check.ts', text: /^return redis\.call/, because: 'Lua' },
  { file: 'lib/fencing/guarded-script.ts', text: /^MSET /, because: 'names of commands' },
  { file: 'lib/redis/store-failure.ts', text: /^asking auth /, because: 'names of commands' },
  { file: 'lib/redis/store-failure.ts', text: /^non local key$/, because: 'what Redis says' },
  { file: 'lib/redis/server-probe.ts', text: /^-ERR max number/, because: 'what Redis says' },
  {
    file: 'lib/redis/lua-script.ts',
    text: /^A script that counts/,
    because: 'our own mistake',
  },
  {
    file: 'lib/redis/cluster/redis-cluster.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  {
    file: 'lib/redis/redis-connection.ts',
    text: /^the caller gave up$/,
    because: 'heard by nobody',
  },
  { file: 'lib/redis/replica-acks.ts', text: /^the caller gave up$/, because: 'heard by nobody' },
];

/** The command's own sentences say by themselves what to do: its page has what an operator looks up. */
const messages = messagesOfLib().filter(({ file }) => !file.startsWith('lib/cli/'));

function isUntold({ file, text }: Message): boolean {
  return UNTOLD.some((each) => each.file === file && each.text.test(text));
}

/** Without what Markdown adds, and with blanks for line breaks. */
function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\s+/g, ' ');
}

/** Whether the page has a text; what is put into it stands there in angle brackets, or as an example. */
function isOnPage(text: string): boolean {
  const parts = plain(text)
    .replace(/^[\s:]+/, '')
    .trim()
    .split('<…>');
  const pattern = parts
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.{0,80}?');
  return new RegExp(pattern).test(page);
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
    const missing = messages.filter((message) => !isUntold(message) && !isOnPage(message.text));
    expect(missing).toEqual([]);
  });

  it('is excused from no text that lib does not have', () => {
    const idle = UNTOLD.filter(
      (each) => !messages.some(({ file, text }) => each.file === file && each.text.test(text)),
    );
    expect(idle).toEqual([]);
  });
});

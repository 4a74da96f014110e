import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as library from 'nest-redis-lock';
import { type Message, messagesOfLib } from './messages.js';

const markdown = readFileSync('docs/troubleshooting.md', 'utf8');
const page = plain(markdown);

/** Where lib tells of what happens while an application runs. What is a mistake in code, is told where it is made. */
const HAPPENS =
  /^lib\/(?:engine\/(?:errors|locks|redis)\/|nest\/services\/(?:candidate|election|locked-call|log|logger|operator-log)\.ts$)/;

/** By these words, at the beginning of a clause, a text says what to do; or it says what would be right. */
const REMEDY =
  /(?:^|[.:;,] (?:or )?)(?:compare|correct|create|enable|give|make|name|put|release|see|set|take|use)\b|\b(?:takes?|needs?|must)\b/i;

/** Texts that nobody is ever told, or not alone, and why. */
const UNTOLD: readonly { file: string; text: RegExp; because: string }[] = [
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

const messages = messagesOfLib();
const happening = messages.filter(({ file }) => HAPPENS.test(file));

const excuses =
  ({ file, text }: Message) =>
  (each: (typeof UNTOLD)[number]): boolean =>
    file.endsWith(`/${each.file}.ts`) && each.text.test(text);

/** Without what Markdown adds, and with blanks for line breaks. */
function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\s+/g, ' ');
}

/** Finds a text of lib; what is put into it stands there in angle brackets, or as an example. */
function patternOf({ text }: Message): RegExp {
  const parts = plain(text)
    .replace(/^[\s:]+/, '')
    .trim()
    .split('<…>');
  return new RegExp(
    parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.{0,80}?'),
  );
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

  it('has each text on what happens, unless the text says what to do', () => {
    const missing = happening.filter(
      (message) =>
        !UNTOLD.some(excuses(message)) &&
        !REMEDY.test(message.text) &&
        !patternOf(message).test(page),
    );
    expect(missing).toEqual([]);
  });

  it('begins no row with a text that lib does not have', () => {
    const rows = [...markdown.matchAll(/^(?:###|-) `([^`]+)`/gm)].map(([, text]) => plain(text!));
    const texts = rows.filter((row) => row.split(' ').length > 3);
    expect(texts.length).toBeGreaterThan(50);
    const patterns = messages.map(patternOf);
    expect(texts.filter((text) => !patterns.some((each) => each.test(text)))).toEqual([]);
  });

  it('is excused from no text that lib does not have', () => {
    const idle = UNTOLD.filter((each) => !happening.some((message) => excuses(message)(each)));
    expect(idle).toEqual([]);
  });
});

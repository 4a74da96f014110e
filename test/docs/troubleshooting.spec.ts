import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as library from 'nest-redis-lock';
import { type Message, messagesOfLib } from './messages.js';
import { UNTOLD } from './untold-texts.js';

const markdown = readFileSync('docs/troubleshooting.md', 'utf8');
const page = plain(markdown);

/** Where lib tells of what happens while an application runs. What is a mistake in code, is told where it is made. */
const HAPPENS =
  /^lib\/(?:engine\/(?:errors|locks|redis)\/|nest\/services\/(?:candidate|election|locked-call|log|logger|operator-log)\.ts$)/;

/** By these words, at the beginning of a clause, a text says what to do; or it says what would be right. */
const REMEDY =
  /(?:^|[.:;,] (?:or )?)(?:compare|correct|create|enable|give|make|name|put|release|see|set|take|use)\b|\b(?:takes?|needs?|must)\b/i;

const messages = messagesOfLib();
const happening = messages.filter(({ file }) => HAPPENS.test(file));

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

function excuses({ file, text }: Message): (each: (typeof UNTOLD)[number]) => boolean {
  return (each) => file.endsWith(`/${each.file}.ts`) && each.text.test(text);
}

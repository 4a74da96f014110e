import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { filesBelow } from './files-below.js';

/** How many lines below its imports a file may say first what it promises. */
const MOST = 30;
/** A test, or a promise of a contract. */
const SENTENCE = /^ *(?:it|test)\b[.(<]|^ *(?:async )?(['"`]).*\1\(/m;
/** What calls a function or passes on a list, where the sentences stand in another file. */
const CALL = /^(?:await )?(?!before|after)\w+\(|^for \(|^export const /m;
const REMEDY =
  'Move functions and types below the tests; applications, fakes and tables into a file beside it that is named after the world it shows.';

const files = [...filesBelow('test', '.spec.ts'), ...filesBelow('test', '.contract.ts')].filter(
  (file) => !/node_modules|package.consumers/.test(file),
);

describe('the first sentence of a spec or contract', () => {
  it(`stands at most ${MOST} lines below the imports`, () => {
    const late = files
      .map((file) => ({ file, lines: linesBefore(readFileSync(file, 'utf8')) }))
      .filter(({ lines }) => lines > MOST)
      .map(({ file, lines }) => `${file}: ${lines} lines below the imports. ${REMEDY}`);
    expect(files.length).toBeGreaterThan(300);
    expect(late).toEqual([]);
  });

  it.each([
    ['a test', "it('is free', () => {});"],
    ['a table of tests', '  it.each([['],
    ['a promise of a contract', "  async 'tokens grow'(world) {"],
    ['a call of what has the sentences', "everywhere('P6 fencing', fencing);"],
    ['a call of a function below that has them', 'both();\nfunction both() {\n  it.each([])\n}'],
  ])('is %s', (_, sentence) => {
    const text = `import a from 'a';\nimport {\n  b,\n} from 'b';\n\nbeforeAll(b);\nconst c = 1;\n`;
    expect(linesBefore(text + sentence)).toBe(4);
  });

  it('is missed where there is none', () => {
    expect(linesBefore("import a from 'a';\n\nconst b = a;\n")).toBe(Infinity);
  });
});

/** From the end of the imports to the line of the first sentence. */
function linesBefore(text: string): number {
  const lines = text.split('\n');
  const begins = lines.findLastIndex((line) => line.startsWith('import '));
  const rest = lines.slice(lines.findIndex((line, at) => at >= begins && line.endsWith(';')));
  const found = firstOf(rest);
  return found < 0 ? Infinity : found;
}

/** A sentence, or the call of a function of this file that has some; else what calls or lists those of others. */
function firstOf(lines: readonly string[]): number {
  const functions = lines.join('\n').matchAll(/^(?:async )?function (\w+)[^]*?^\}/gm);
  const own = [...functions].filter(([body]) => SENTENCE.test(body)).map(([, name]) => `${name}(`);
  const found = lines.findIndex(
    (line) => SENTENCE.test(line) || own.some((call) => line.trimStart().startsWith(call)),
  );
  return found < 0 ? lines.findIndex((line) => CALL.test(line)) : found;
}

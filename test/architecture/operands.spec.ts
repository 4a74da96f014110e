import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { filesBelow } from './files-below.js';

const OPERANDS = /^\s*local ([\w, ]+) = ARGV\[/gm;
const COMMENTS = /\/\*[^]*?\*\/|\/\/.*$/gm;

function textsOf(ending: string): string[] {
  return filesBelow('lib/engine/locks', ending).map((file) => readFileSync(file, 'utf8'));
}

/** Operands are passed by name, and one that nobody gives reaches the script as an empty text. */
it('each operand that a script declares is given by name in TypeScript', () => {
  const declared = textsOf('.lua').flatMap((source) =>
    [...source.matchAll(OPERANDS)].flatMap(([, names]) => names!.split(', ')),
  );
  const given = new Set(
    textsOf('.ts').flatMap((source) => source.replaceAll(COMMENTS, '').match(/\w+/g) ?? []),
  );
  expect(declared.length).toBeGreaterThan(100);
  expect([...new Set(declared)].filter((name) => !given.has(name))).toEqual([]);
});

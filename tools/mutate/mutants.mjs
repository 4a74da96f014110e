import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { globSync } from '../glob.mjs';
import { luaMistakes } from './lua-rules.mjs';
import { typescriptMistakes } from './typescript-rules.mjs';

/**
 * Every mutant of `lib`: one small mistake in one file. Its id does not change while its line does not, wherever in
 * the file the line comes to stand.
 */
export function allMutants() {
  return [...globSync('lib', '.ts'), ...globSync('lib', '.lua')]
    .filter((file) => !file.endsWith('.d.ts'))
    .flatMap((file) => mutantsOf(file));
}

function mutantsOf(file) {
  const source = readFileSync(file, 'utf8');
  const mistakes = file.endsWith('.lua') ? luaMistakes : typescriptMistakes;
  const met = new Map();
  return mistakes(file, source).map(({ rule, start, end, text }) => {
    const line = source.slice(0, start).split('\n').length;
    const was = source.slice(start, end);
    const from = source.lastIndexOf('\n', start - 1) + 1;
    const around = source.slice(from, start).trim();
    const after = source.slice(end).split('\n', 1)[0];
    const where = JSON.stringify([file, around, was, after, text]);
    const nth = met.get(where) ?? 0;
    met.set(where, nth + 1);
    const id = createHash('sha1').update(`${where} ${nth}`).digest('hex').slice(0, 10);
    return { id, file, source, line, rule, start, end, was, text };
  });
}

/** The text of the mutant's file with its mistake. */
export function mutatedSource({ source, start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/** `size` of `mutants`, drawn by `seed`: the same seed over the same code draws the same. */
export function sampleOf(mutants, size, seed) {
  const drawn = mutants.map((mutant) => {
    const weight = createHash('sha1').update(`${seed} ${mutant.id}`).digest('hex');
    return { mutant, weight };
  });
  drawn.sort((a, b) => (a.weight < b.weight ? -1 : 1));
  return drawn.slice(0, size).map(({ mutant }) => mutant);
}

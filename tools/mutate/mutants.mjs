import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { globSync } from '../glob.mjs';
import { luaMistakes } from './lua-rules.mjs';
import { typescriptMistakes } from './typescript-rules.mjs';

/**
 * Every mutant of `lib`: one small mistake in one file. Its id does not change while the line and what stands
 * before it in the file do not.
 */
export function allMutants() {
  return [...globSync('lib', '.ts'), ...globSync('lib', '.lua')]
    .filter((file) => !file.endsWith('.d.ts'))
    .flatMap((file) => mutantsOf(file));
}

function mutantsOf(file) {
  const source = readFileSync(file, 'utf8');
  const mistakes = file.endsWith('.lua') ? luaMistakes : typescriptMistakes;
  return mistakes(file, source).map(({ rule, start, end, text }) => {
    const line = source.slice(0, start).split('\n').length;
    const was = source.slice(start, end);
    const id = createHash('sha1')
      .update(JSON.stringify([file, start, was, text]))
      .digest('hex');
    return { id: id.slice(0, 10), file, line, rule, start, end, was, text };
  });
}

/** The text of the mutant's file with its mistake. */
export function mutatedSource({ file, start, end, text }) {
  const source = readFileSync(file, 'utf8');
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

import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { filesBelow } from './files-below.js';

// A lower ceiling shaped the code: six files of `client/` ended at 299 or 300 lines. A larger file says why it is one concept.
const CEILING = 350;
const MEDIAN = 80;

/** Over the ceiling, and why; may shrink, never grow. */
const EXCUSED: Record<string, number> = {};

const sizes = [...filesBelow('lib', '.ts'), ...filesBelow('lib', '.lua')].map((file) => ({
  file,
  lines: readFileSync(file, 'utf8').trimEnd().split('\n').length,
}));

it('has no file that cannot be held in mind', () => {
  const large = sizes.filter(({ file, lines }) => lines > (EXCUSED[file] ?? CEILING));
  expect(large).toEqual([]);
});

it('excuses no file that became small', () => {
  const small = Object.keys(EXCUSED).filter((excused) =>
    sizes.every(({ file, lines }) => file !== excused || lines <= CEILING),
  );
  expect(small).toEqual([]);
});

it(`has a median file of at most ${MEDIAN} lines`, () => {
  const lines = sizes.map((size) => size.lines).sort((a, b) => a - b);
  expect(lines[Math.floor(lines.length / 2)]).toBeLessThanOrEqual(MEDIAN);
});

it('speaks of callers, processes and holders, not of men', () => {
  const files = ['lib', 'test', 'sample', 'docs']
    .flatMap((folder) => filesBelow(folder, ''))
    .filter((file) => /\.(ts|lua|md|mjs)$/.test(file));
  const wrong = files
    .filter(
      (file) => !/node_modules|docs\/api/.test(file) && file !== 'test/architecture/small.spec.ts',
    )
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          /\b(he|his|him|himself)\b/i.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : [],
        ),
    );
  expect(wrong).toEqual([]);
});

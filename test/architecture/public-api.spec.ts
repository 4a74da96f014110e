import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// A difference is a change of the public surface. Where it is meant: `npm run public-api`, and review the file.
const exported = execFileSync(process.execPath, ['tools/public-api.mjs'], { encoding: 'utf8' });

it('exports what public-api.txt says, and nothing else', () => {
  const reviewed = readFileSync('test/architecture/public-api.txt', 'utf8');
  expect(exported.split('\n')).toEqual(reviewed.split('\n'));
});

// A type that is exported nowhere cannot be written down by who uses it: export it, or write it out in the signature.
it('exports every type of ours that stands in a public signature', () => {
  expect(exported.split('=== unexported\n')[1]).toBe('');
});

it('names every export: no `export *` but of the errors, which are all public', () => {
  const stars = readFileSync('lib/index.ts', 'utf8').match(/^export \*.*$/gm) ?? [];
  expect(stars).toEqual(["export * from './engine/errors/index.js';"]);
});

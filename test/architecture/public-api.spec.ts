import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// A difference is a change of the public surface. Where it is meant: `npm run public-api`, and review the file.
it('exports what public-api.txt says, and nothing else', () => {
  const exported = execFileSync(process.execPath, ['tools/public-api.mjs'], { encoding: 'utf8' });
  const reviewed = readFileSync('test/architecture/public-api.txt', 'utf8');
  expect(exported.split('\n')).toEqual(reviewed.split('\n'));
});

it('names every export: no `export *` but of the errors, which are all public', () => {
  const stars = readFileSync('lib/index.ts', 'utf8').match(/^export \*.*$/gm) ?? [];
  expect(stars).toEqual(["export * from './errors/index.js';"]);
});

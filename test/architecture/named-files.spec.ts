import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { filesBelow } from './files-below.js';

const FOLDERS = ['lib', 'test', 'tools', 'sample', 'docs'];
const files = FOLDERS.flatMap((folder) => filesBelow(folder, '')).filter(
  (file) => !file.includes('node_modules'),
);
/** A name of a file of code, with folders before it or without; none with `*` or `<…>` in it. */
const NAMED =
  /(?<![\w/.*<>{}$-])\w[\w.-]*(?:\/[\w.-]+)*\.(?:lua|mjs|spec\.ts|contract\.ts|ts)\b(?![\w*(])/g;

const comments = (text: string): string =>
  (text.match(/\/\*\*[^]*?\*\/|(?<!:)\/\/.*|--.*/g) ?? []).join('\n');

it.each([
  ['CONTRIBUTING.md', (text: string) => text],
  ['lib/README.md', (text: string) => text],
  ...filesBelow('lib', '.ts').map((file) => [file, comments] as const),
  ...filesBelow('lib', '.lua').map((file) => [file, comments] as const),
])('%s names files that exist', (file, told) => {
  const named = told(readFileSync(file, 'utf8')).match(NAMED) ?? [];
  const exists = (name: string): boolean =>
    files.some((each) => each === name || each.endsWith(`/${name}`));
  expect(named.filter((name) => !exists(name.replace(/^\.\//, '')))).toEqual([]);
});

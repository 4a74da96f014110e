import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { filesBelow } from './files-below.js';

/** What a realm of tests may lack, and the file that makes up for it. */
it.each([
  ['calls unref: the timers of jsdom are numbers', /\.unref\b/, 'lib/engine/options/clock.ts'],
  [
    'names the symbols of disposal: the realm of Jest 29 has none',
    /\bSymbol\.(asyncD|d)ispose\b|\busing \w+ =/,
    'lib/engine/options/async-dispose.ts',
  ],
])('one file alone %s', (_, pattern, home) => {
  const files = filesBelow('lib', '.ts');
  expect(files.filter((file) => pattern.test(readFileSync(file, 'utf8')))).toEqual([home]);
});

it('no file uses what a realm of tests lacks and Node has elsewhere', () => {
  const files = filesBelow('lib', '.ts').filter((file) => !file.startsWith('lib/watch/cli/'));
  const lacking = files.filter((file) => {
    const code = readFileSync(file, 'utf8');
    const isBare = /\b(set|clear)Immediate\(/.test(code) && !code.includes("from 'node:timers'");
    return isBare || /\.throwIfAborted\(|\bAbortSignal\.any\(/.test(code);
  });
  expect(lacking).toEqual([]);
});

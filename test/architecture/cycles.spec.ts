import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { imports } from './imports.js';

/** What each file imports of lib, types included. */
const edges = new Map<string, string[]>();
for (const { file, target, ours } of imports) {
  if (ours) edges.set(file, [...(edges.get(file) ?? []), target.replace(/\.js$/, '.ts')]);
}

/** The files that one file reaches over its imports. */
function reached(from: string): ReadonlySet<string> {
  const met = new Set<string>();
  const next = [...(edges.get(from) ?? [])];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (met.has(file)) continue;
    met.add(file);
    next.push(...(edges.get(file) ?? []));
  }
  return met;
}

it('follows the imports from the root to the ground', () => {
  const met = reached('index.ts');
  expect(met).toContain(join('engine', 'client', 'queue', 'local-queue.ts'));
  expect(met).toContain(join('engine', 'redis', 'resp.ts'));
});

it('has no file that imports itself over others, by types or more', () => {
  expect([...edges.keys()].filter((file) => reached(file).has(file))).toEqual([]);
});

import { readdirSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { kinds } from '../support/kinds.js';

it('every kind of lock stands in the matrix of the contracts', () => {
  const folders = readdirSync('lib/engine/locks', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'includes')
    .map(({ name }) => name);
  const covered = new Set(Object.values(kinds).map(({ folder }) => folder));
  covered.add('condition'); // no lock by itself: it has a contract of its own, conditions.contract.ts
  covered.add('quorum'); // another store with another order of waiters: the contracts that it keeps name it, faults/quorum.spec.ts the rest
  covered.add('dialects'); // other libraries’ locks, without a queue: dialects/matrix.spec.ts names each of them
  covered.add('timestamp-compat'); // no lock: what our locks write beside clients of the articles, dialects/guard.spec.ts and native-guard.spec.ts
  expect([...covered].sort()).toEqual(folders.sort());
});

it('every promise is a suite that runs through the matrix', () => {
  const files = readdirSync('test/contracts');
  const contracts = files.filter((name) => name.endsWith('.contract.ts'));
  expect(contracts.length).toBeGreaterThan(0);
  for (const name of contracts) expect(files).toContain(name.replace('.contract.ts', '.spec.ts'));
});

import { expect, it, jest } from '@jest/globals';

const replicas = ['x2k4q', 'p9z7w'].map(
  (end) => `payments-settlement-worker-production-7d9f8b6c5d-${end}`,
);
let host = '';
jest.unstable_mockModule('node:os', () => ({ hostname: () => host }));
const { newHolderId, newProcessId, processOf } = await import('../../lib/engine/locks/holder.js');

it('replicas of one deployment are told apart by their hosts, however long its name is', () => {
  const hosts = replicas.map((name) => {
    host = name;
    return processOf(newHolderId(newProcessId()))!.host;
  });
  expect(hosts).toEqual(replicas.map((name) => name.slice(-40)));
  expect(new Set(hosts).size).toBe(2);
});

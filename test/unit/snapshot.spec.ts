import { describe, expect, it } from '@jest/globals';
import { snapshotWithoutQueue } from '../../lib/engine/locks/snapshot.js';

/** What inspect answers, with the token of a writer behind a minus. */
const reply = (mode: 'read' | 'write', ...holders: unknown[]): unknown => [
  'hash',
  1,
  9_000,
  '',
  1_700_000_000_000_000,
  mode,
  holders,
  mode === 'write' ? '-7' : '8',
  '',
];

describe('a lock of another service', () => {
  it('has one holder, and what is left of its lease, where it is exclusive', () => {
    expect(snapshotWithoutQueue(reply('write', 'a', 5_000))).toMatchObject({
      holder: 'a',
      holders: [],
      mode: undefined,
      remaining: 5_000,
      firstToken: 7,
    });
  });

  it('has several, each with its own lease, where they read', () => {
    expect(snapshotWithoutQueue(reply('read', 'a', 5_000, 'b', '7000'))).toMatchObject({
      holder: '',
      holders: [
        { holder: 'a', remaining: 5_000 },
        { holder: 'b', remaining: 7_000 },
      ],
      mode: 'shared',
      remaining: 9_000,
      firstToken: 8,
    });
  });
});

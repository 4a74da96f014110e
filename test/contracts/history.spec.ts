import { describe, expect, it } from '@jest/globals';
import {
  checkHistory,
  queueJumps,
  type Claimed,
  type ConditionEvent,
  unsignalled,
  violations,
} from '../support/history.js';

/** A lease from `from` to `to`, by default with a holder and a token of its own. */
function claimed(from: number, to: number, more: Partial<Claimed> = {}): Claimed {
  return { key: 'k', holder: `h${from}`, process: 'p', fencingToken: from, from, to, ...more };
}

describe('a history is right when', () => {
  it.each<[string, Claimed[]]>([
    ['nothing happened', []],
    ['one lease follows another', [claimed(1, 2), claimed(2, 3), claimed(5, 6)]],
    ['it is not written down in its order', [claimed(5, 6), claimed(1, 2)]],
    ['leases of two locks overlap', [claimed(1, 9), claimed(2, 3, { key: 'other' })]],
    [
      'leases of one grant overlap',
      [
        claimed(1, 9, { holder: 'a', fencingToken: 7 }),
        claimed(2, 3, { holder: 'a', fencingToken: 7 }),
        claimed(9, 10, { fencingToken: 8 }),
      ],
    ],
    [
      'those who queued were served in turn, others between them',
      [claimed(1, 2, { arrival: 10 }), claimed(2, 3), claimed(3, 4, { arrival: 11 })],
    ],
  ])('%s', (_name, history) => {
    expect(violations(history)).toEqual([]);
    expect(() => checkHistory(history)).not.toThrow();
  });
});

describe('a history is wrong when', () => {
  it.each<[string, Claimed[], RegExp]>([
    ['two leases overlap', [claimed(1, 3), claimed(2, 4)], /before h1 .* ended/],
    ['a lease lies within another', [claimed(1, 9), claimed(2, 3)], /before h1 .* ended/],
    [
      'a lease overlaps one that is not the last before it',
      [claimed(1, 9), claimed(2, 3), claimed(4, 5)],
      /h4 .* before h1/,
    ],
    [
      'two leases of one process overlap',
      [claimed(1, 3, { process: 'p' }), claimed(2, 4, { process: 'p' })],
      /before/,
    ],
    [
      'a token is smaller than an earlier one',
      [claimed(1, 2, { fencingToken: 5 }), claimed(2, 3, { fencingToken: 4 })],
      /h2 .* came after h1/,
    ],
    [
      'two grants have one token',
      [claimed(1, 2, { fencingToken: 5 }), claimed(2, 3, { fencingToken: 5 })],
      /h2 .* came after h1/,
    ],
    [
      'a token regresses below one that is not the last before it',
      [
        claimed(1, 2, { fencingToken: 9 }),
        claimed(2, 3, { fencingToken: 5 }),
        claimed(3, 4, { fencingToken: 6 }),
      ],
      /h3 .* came after h1/,
    ],
    [
      'one grant has two tokens',
      [
        claimed(1, 2, { holder: 'a', fencingToken: 5 }),
        claimed(2, 3, { holder: 'a', fencingToken: 6 }),
      ],
      /came after/,
    ],
    [
      'one who queued later was served before',
      [claimed(1, 2, { arrival: 11 }), claimed(2, 3, { arrival: 10 })],
      /queued at 10, was served after/,
    ],
    [
      'one was passed over by many',
      [claimed(1, 2, { arrival: 20 }), claimed(2, 3), claimed(3, 4, { arrival: 10 })],
      /queued at 10, was served after/,
    ],
  ])('%s', (_name, history, says) => {
    expect(violations(history).join('\n')).toMatch(says);
    expect(() => checkHistory(history)).toThrow('The history is wrong');
  });

  it('a section is missing, or one too many', () => {
    expect(() => checkHistory([claimed(1, 2)], { sections: 2 })).toThrow('1 sections ran, not 2');
    expect(() => checkHistory([claimed(1, 2)], { sections: 0 })).toThrow('1 sections ran, not 0');
  });
});

describe('of a condition', () => {
  const signalled = (at: number): ConditionEvent => ({ kind: 'signalled', at });
  const woken = (at: number): ConditionEvent => ({ kind: 'woken', at });

  it.each<[string, ConditionEvent[], number]>([
    ['each wakes by a signal of its own', [signalled(1), signalled(2), woken(3), woken(4)], 0],
    ['a signal may wake nobody', [signalled(1), signalled(2), woken(3)], 0],
    ['one signal does not wake two', [signalled(1), woken(2), woken(3)], 1],
    [
      'nobody wakes by one that woke nobody',
      [signalled(1), { kind: 'unheard', at: 1 }, woken(2)],
      1,
    ],
    ['nobody wakes before it is signalled', [signalled(2), woken(1)], 1],
  ])('%s', (_name, events, wrong) => {
    expect(unsignalled(events)).toHaveLength(wrong);
  });
});

it('five hold at once where five may, and not six', () => {
  const five = Array.from({ length: 5 }, (_, at) => claimed(at, 9, { beside: 5 }));
  expect(violations(five)).toEqual([]);
  expect(violations([...five, claimed(5, 9, { beside: 5 })])).toHaveLength(1);
});

describe('a newcomer who is granted a lock at once', () => {
  const newcomer = claimed(2, 3, { atOnce: true, fencingToken: 500_000 });

  it('jumps the queue if somebody queued before, for longer than tokens lead the clock', () => {
    const waiter = claimed(4, 5, { arrival: 100_000 });
    expect(queueJumps([newcomer, waiter], 150)).toEqual([
      expect.stringMatching(/^h4 .* was served after h2 .*, which did not queue/),
    ]);
    expect(queueJumps([newcomer, waiter])).toEqual([]);
  });

  it('jumps no queue if nobody waits, or who waits may have come later', () => {
    const before = claimed(1, 2, { arrival: 600_000 });
    const later = claimed(4, 5, { arrival: 700_000 });
    const justNow = claimed(5, 6, { arrival: 700_001 });
    expect(queueJumps([before, newcomer, later, justNow], 150)).toEqual([]);
  });
});

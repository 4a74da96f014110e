import { describe, expect, it } from '@jest/globals';
import { Books } from '../../sample/demo/books.js';
import type { Trial } from '../../sample/demo/trial.js';
import { complaintsAboutCrash, complaintsAboutTrial } from '../../sample/demo/verdict.js';

const KEPT: Trial = {
  workload: 'one account',
  requests: 2,
  locked: true,
  seconds: 1,
  waits: [1, 2],
  shares: [1, 1, 0],
  failed: 0,
  expected: 10,
  actual: 10,
  lostUpdates: 0,
  wrongAccounts: 0,
};

describe('the verdict of the demo', () => {
  it('has nothing against a lock that lost nothing', () => {
    expect(complaintsAboutTrial(KEPT)).toEqual([]);
    expect(complaintsAboutCrash({ servedAfter: 2_900 })).toEqual([]);
  });

  it.each([{ lostUpdates: 1 }, { wrongAccounts: 1 }, { failed: 1 }])('complains of %p', (fault) => {
    expect(complaintsAboutTrial({ ...KEPT, ...fault })).toHaveLength(1);
    expect(complaintsAboutTrial({ ...KEPT, ...fault, locked: false })).toEqual([]);
  });

  it('complains of an account that is served again too late, or never', () => {
    expect(complaintsAboutCrash({ servedAfter: 4_001 })).toHaveLength(1);
    expect(complaintsAboutCrash({ servedAfter: undefined })).toHaveLength(1);
  });
});

it('counts lost updates that cancel each other out', () => {
  const books = new Books(['a', 'b'], { balance: 100, bookings: 0 });
  books.confirm([['a', 5]]);
  books.confirm([['a', -5]]);
  books.confirm([
    ['a', -1],
    ['b', 1],
  ]);
  const found = new Map([
    ['a', { balance: 99, bookings: 1 }],
    ['b', { balance: 101, bookings: 1 }],
  ]);
  expect(books.compare(found)).toEqual({
    expected: 200,
    actual: 200,
    lostUpdates: 2,
    wrongAccounts: 0,
  });
});

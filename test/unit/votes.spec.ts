import { describe, expect, it } from '@jest/globals';
import {
  acquisition,
  majorityOf,
  nodeTimeout,
  leaseStatus,
  reachedByMajority,
} from '../../lib/engine/locks/quorum/ballot.js';

const all = (granted: number, denied: number, failed: number) => ({ granted, denied, failed });

describe('a majority', () => {
  it('shares a node with every other one', () => {
    for (let nodes = 1; nodes <= 9; nodes += 1) {
      expect(2 * majorityOf(nodes)).toBeGreaterThan(nodes);
      expect(2 * (majorityOf(nodes) - 1)).toBeLessThanOrEqual(nodes);
    }
  });

  it('reaches the least of its values', () => {
    expect(reachedByMajority([5, 900, 700, 30, 800], 5)).toBe(700);
    expect(reachedByMajority([900, 700], 5)).toBeUndefined();
  });
});

describe('an acquisition', () => {
  it.each([
    [all(3, 0, 0), 2, 'granted'],
    [all(2, 1, 0), 2, undefined],
    [all(1, 3, 0), 1, 'denied'],
    [all(2, 2, 0), 1, undefined],
    [all(0, 1, 2), 2, undefined],
    [all(0, 0, 3), 2, 'failed'],
    [all(2, 0, 3), 0, 'failed'],
    [all(1, 2, 2), 0, 'denied'],
  ])('with votes %j and %i missing is %s', (votes, pending, outcome) => {
    expect(acquisition({ nodes: 5, ...votes, pending })).toBe(outcome);
  });

  it('of two nodes that vote for two is over', () => {
    expect(acquisition({ nodes: 2, ...all(1, 1, 0), pending: 0 })).toBe('denied');
  });

  it('is decided when every node has answered or failed, whatever they said', () => {
    for (let nodes = 1; nodes <= 7; nodes += 1) {
      for (let granted = 0; granted <= nodes; granted += 1) {
        for (let denied = 0; denied <= nodes - granted; denied += 1) {
          expect(acquisition({ nodes, granted, denied, pending: 0 })).toBeDefined();
        }
      }
    }
  });
});

describe('a lease', () => {
  it.each([
    [all(3, 2, 0), 0, 'held'],
    [all(2, 3, 0), 0, 'gone'],
    [all(0, 3, 0), 2, 'gone'],
    [all(2, 2, 0), 1, undefined],
    [all(2, 1, 2), 0, 'unknown'],
  ])('with votes %j and %i missing is %s', (votes, pending, outcome) => {
    expect(leaseStatus({ nodes: 5, ...votes, pending })).toBe(outcome);
  });
});

it('a node has a small part of the lease, and no longer than a command', () => {
  expect(nodeTimeout(1_200, 2_000)).toBe(200);
  expect(nodeTimeout(4_000, 2_000)).toBe(500);
  expect(nodeTimeout(Infinity, 2_000)).toBe(500);
  expect(nodeTimeout(Infinity, 100)).toBe(100);
});

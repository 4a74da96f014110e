import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { HeldLease } from '../../lib/engine/client/leases/held-lease.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { Section } from '../../lib/engine/client/leases/section.js';
import { CALL_DEFAULTS, NATIVE, READER, type Share } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { later } from '../support/later.js';

describe('a section that a sibling occupies', () => {
  it.each(['has its turn', 'aborts', 'waits too long'])(
    'is listened to no longer by a caller that %s',
    async (end) => {
      const clock = new ManualClock();
      const watchers = new Set<() => void>();
      const whenTurns = (told: () => void): (() => void) => {
        watchers.add(told);
        return () => void watchers.delete(told);
      };
      const heldLease = {
        request: { key: 'k' },
        held: true,
        state: 'held',
        signal: new AbortController().signal,
        whenTurns,
        addLease() {},
      };
      const entered = { ...heldLease, current: heldLease } as unknown as HeldLease;
      const section = new Section({}, entered, {} as BaseLease);
      const call = { ...CALL_DEFAULTS, wait: 1_000 };
      const leave = (await section.enter(call, undefined, clock, 0))!;

      const controller = new AbortController();
      const waiting = later(section.enter(call, controller.signal, clock, 0));
      await clock.advance(0);
      expect(watchers.size).toBe(1);
      if (end === 'has its turn') leave();
      else if (end === 'aborts') controller.abort();
      else await clock.advance(1_000);
      await waiting.catch(() => {});
      expect(watchers.size).toBe(0);
      expect(getEventListeners(heldLease.signal, 'abort')).toEqual([]);
    },
  );
});

it.each<[string, Share | undefined, boolean]>([
  ['a caller alone', undefined, true],
  ['a reader', READER, true],
  ['who takes permits', { permits: 3, count: 1 }, false],
])('%s within a section, as %j, enters it again: %s', (_who, share, again) => {
  const owner = {};
  const heldLease = { request: { key: 'k', format: NATIVE }, held: true };
  const entered = { ...heldLease, current: heldLease } as unknown as HeldLease;
  const section = new Section(owner, entered, {} as BaseLease);
  const call = { ...CALL_DEFAULTS, share };
  const found = section.run(() => Section.toReenter(owner, 'k', call));
  expect(found).toBe(again ? section : undefined);
});

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { Heard } from '../support/heard.js';
import { step, RandomCalls } from './random-calls.js';

beforeEach(() => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  jest.restoreAllMocks();
});

const RUNS = Number(globalThis.process.env['RUNS'] ?? 60);

it('whatever happens, each call and each hold that began has one end, and no more end than began', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      using heard = new Heard();
      const calls = new RandomCalls();
      for (const one of steps) {
        await calls.apply(one);
        await calls.clock.advance(0);
        if (calls.isSilent) continue; // its answers are under way
        const { held, waiting } = calls.load;
        expect(heard.open.waiting).toBe(waiting);
        // Of several keys the first may be held already, which is told when all are.
        const halfWay = heard.calls.filter((call) => call.key === 'a, b' && !call.outcome).length;
        expect(heard.open.held).toBeLessThanOrEqual(held);
        expect(heard.open.held).toBeGreaterThanOrEqual(held - halfWay);
      }
      await calls.close();
      expect(heard.unbalanced).toEqual([]);
      expect(heard.ended).toHaveLength(heard.calls.length + heard.holds.length);
      const lost = heard.holds.filter(({ end }) => end === 'lost');
      const others = heard.holds.filter(({ end }) => end === 'awaiting');
      expect(heard.of('lost').length - lost.length).toBeLessThanOrEqual(others.length);
      expect(heard.calls.every(({ outcome }) => outcome !== undefined)).toBe(true);
    }),
    { numRuns: RUNS },
  );
}, 300_000);

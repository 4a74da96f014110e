import { expect, it } from '@jest/globals';
import { EventLoopWatch } from '../../lib/services/event-loop-watch.js';

it('an event loop is measured from the first question on, and not after the end', () => {
  const watch = new EventLoopWatch();
  expect(watch.lateness()).toBeUndefined();
  expect(watch.lateness()).toBeGreaterThanOrEqual(0);
  watch.close();
  expect(watch.lateness()).toBeUndefined();
});

it('a first question that comes after the end begins nothing', () => {
  const watch = new EventLoopWatch();
  watch.close();
  expect([watch.lateness(), watch.lateness()]).toEqual([undefined, undefined]);
});

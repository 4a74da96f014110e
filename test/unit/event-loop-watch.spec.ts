import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventLoopWatch } from '../../lib/engine/inspection/event-loop-watch.js';

describe('an event loop', () => {
  let watch: EventLoopWatch;
  let stalled = 0;

  beforeEach(() => {
    jest.useFakeTimers();
    stalled = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + stalled);
    watch = new EventLoopWatch();
  });
  afterEach(() => {
    watch.close();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is measured from the first question on, and not after the end', () => {
    expect(watch.lateness()).toBeUndefined();
    expect(watch.lateness()).toBe(0);
    watch.close();
    expect([watch.lateness(), jest.getTimerCount()]).toEqual([undefined, 0]);
  });

  it('is not measured by a first question that comes after the end', () => {
    watch.close();
    expect([watch.lateness(), watch.lateness()]).toEqual([undefined, undefined]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is known to have stalled before it has turned', () => {
    watch.lateness();
    stalled = 500;
    expect(watch.lateness()).toBe(480);
  });

  it('is known to have stalled long before the question', () => {
    watch.lateness();
    jest.advanceTimersByTime(1_000);
    stalled = 500;
    jest.advanceTimersByTime(600_000);
    expect(watch.lateness()).toBe(500);
  });

  it('has stalled for all who ask within a minute, and not for later ones', () => {
    watch.lateness();
    stalled += 500;
    expect([watch.lateness(), watch.lateness()]).toEqual([480, 480]);
    jest.advanceTimersByTime(40_000);
    stalled += 300;
    jest.advanceTimersByTime(20);
    expect(watch.lateness()).toBe(480);
    jest.advanceTimersByTime(20_000);
    expect(watch.lateness()).toBe(300); // of the later one
    jest.advanceTimersByTime(60_000);
    expect(watch.lateness()).toBe(0);
  });
});

import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../lib/engine/options/index.js';
import { deadline } from '../../lib/engine/redis/deadline.js';
import {
  pauseBefore,
  reconnectEnded,
  watched,
} from '../../lib/engine/redis/ioredis-workarounds.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis } from '../support/fake-redis.js';

/** Longer than any pause before an attempt to connect. */
const LONG = 10_000;

let clock: ManualClock;
let redis: FakeRedis;
beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis();
});

describe('a deadline', () => {
  /** Its timer rings when it is told to. */
  let ring: () => void;
  const bell: Clock = {
    monotonic: () => 0,
    wall: () => 0,
    after: (_, task) => {
      ring = task;
      return () => (ring = () => {});
    },
  };

  it('comes after all input that had come by then', async () => {
    const steps: string[] = [];
    deadline(bell, 10, () => steps.push('deadline'));
    setImmediate(() => steps.push('input'));
    ring();
    expect(steps).toEqual([]);
    await nextTurn();
    expect(steps).toEqual(['input', 'deadline']);
  });

  it('that is called off does not come, not even once its time was up', async () => {
    const task = jest.fn();
    deadline(bell, 10, task)();
    ring();
    const cancel = deadline(bell, 10, task);
    ring();
    cancel();
    await nextTurn();
    expect(task).not.toHaveBeenCalled();
  });
});

describe('a connection that was made', () => {
  beforeEach(() => void watched(redis.client, 500, clock));

  it('is made anew when the server does not get ready in time', async () => {
    redis.emit('connect');
    await clock.advance(499);
    expect(redis.disconnects).toEqual([]);
    await clock.advance(1);
    expect(redis.disconnects).toEqual([true]);
  });

  it.each(['ready', 'close'])('has nothing to wait for any more after "%s"', async (event) => {
    redis.emit('connect');
    await clock.advance(499);
    redis.emit(event);
    expect(clock.pending).toBe(0);
    await clock.advance(LONG);
    expect(redis.disconnects).toEqual([]);
  });

  it('has its time each time', async () => {
    for (let times = 1; times <= 3; times += 1) {
      redis.emit('connect');
      await clock.advance(500);
      expect(redis.disconnects).toHaveLength(times);
      redis.emit('close');
    }
  });
});

describe('a client that ioredis has ended', () => {
  let disconnect: () => void;
  beforeEach(() => {
    disconnect = reconnectEnded(redis.client, clock);
  });

  it('is connected again, once for each end', async () => {
    redis.go(true);
    redis.emit('end');
    expect(redis.connects).toBe(0);
    await clock.advance(LONG);
    expect(redis.connects).toBe(1);
    redis.go(true);
    await clock.advance(LONG);
    expect(redis.connects).toBe(2);
  });

  it('is connected again after each attempt that fails', async () => {
    redis.connect = async () => {
      redis.connects += 1;
      queueMicrotask(() => redis.emit('end'));
      throw new Error('no');
    };
    redis.go(true);
    await clock.advance(LONG);
    expect(redis.connects).toBeGreaterThan(10);
    expect(redis.connects).toBeLessThan(LONG / 100);
  });

  it('is left alone where it has come back by itself', async () => {
    redis.go(true);
    redis.come();
    await clock.advance(LONG);
    expect(redis.connects).toBe(0);
  });

  it('is connected again where it is called ready and has no connection', async () => {
    redis.go(true);
    redis.status = 'ready'; // as ioredis 5 may say
    await clock.advance(LONG);
    expect(redis.connects).toBe(1);
  });

  it('is not connected again by us once we have closed it', async () => {
    redis.go(true);
    redis.emit('end');
    disconnect();
    redis.emit('end');
    expect(clock.pending).toBe(0);
    await clock.advance(LONG);
    expect([redis.connects, redis.disconnects]).toEqual([0, [false]]);
  });
});

it('the pause before an attempt grows from 25 ms to half a second, and a little', () => {
  const pauses = (attempt: number): number[] =>
    Array.from({ length: 100 }, () => pauseBefore(attempt));
  for (const [attempt, least] of [
    [1, 50],
    [2, 100],
    [3, 200],
    [4, 400],
    [5, 500],
    [100, 500],
  ] as const) {
    expect(Math.min(...pauses(attempt))).toBeGreaterThanOrEqual(least);
    expect(Math.max(...pauses(attempt))).toBeLessThanOrEqual(least + 50);
  }
});

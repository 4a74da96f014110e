import { beforeEach, describe, expect, it } from '@jest/globals';
import { OutageWatch } from '../../lib/engine/redis/outage-watch.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis } from '../support/fake-redis.js';

let clock: ManualClock;
let redis: FakeRedis;
let watch: OutageWatch;
let told: unknown[][];
beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis();
  told = [];
  watch = new OutageWatch(redis.client, clock, {
    lost: (...what) => told.push(['lost', ...what]),
    back: (...what) => told.push(['back', ...what]),
  });
});

function failed(code: string): void {
  redis.emit('error', Object.assign(new Error(`redis://user:hunter2@fake ${code}`), { code }));
}

async function outage(ms: number): Promise<void> {
  redis.go();
  await clock.advance(ms);
  watch.back();
}

describe('a connection that was lost', () => {
  it('is told once, with its cause, and so is its return', async () => {
    failed('ECONNRESET');
    redis.go();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await clock.advance(1_000);
      failed('ECONNREFUSED');
      redis.go();
    }
    expect(watch.says).toBe('Redis at fake:1/0 is not connected (ECONNREFUSED)');
    watch.back();
    expect(watch.says).toBe('Redis at fake:1/0 is not connected');
    expect(told).toEqual([
      ['lost', 'fake:1/0', 'ECONNRESET'],
      ['back', 'fake:1/0', 3_000],
    ]);
  });

  it('is told of no cause where none was heard', async () => {
    await outage(5);
    expect(told).toEqual([
      ['lost', 'fake:1/0', undefined],
      ['back', 'fake:1/0', 5],
    ]);
  });

  it('is told once in ten seconds: a short outage in between is not, one that lasts is told later', async () => {
    for (let time = 0; time < 9; time += 1) {
      await outage(100);
      await clock.advance(900);
    }
    expect(told).toHaveLength(2);
    redis.go();
    await clock.advance(999);
    expect(told).toHaveLength(2);
    await clock.advance(1);
    expect(told[2]).toEqual(['lost', 'fake:1/0', undefined]);
    await clock.advance(500);
    watch.back();
    expect(told.slice(3)).toEqual([['back', 'fake:1/0', 1_500]]);
    expect(clock.pending).toBe(0);
  });

  it('is over where another is connected to in its stead, which is told if its loss was', () => {
    const tell = (...what: unknown[]): void => void told.push(what);
    const heard = {
      lost: tell,
      back: tell,
      replaced: (address: string) => tell('replaced', address),
    };
    watch.close();
    for (const isLost of [true, false]) {
      watch = new OutageWatch(redis.client, clock, heard);
      if (isLost) redis.go();
      watch.close(true);
    }
    expect(told).toEqual([
      ['fake:1/0', undefined],
      ['replaced', 'fake:1/0'],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is not told where we close it ourselves', async () => {
    watch.close();
    redis.go(true);
    expect(told).toEqual([]);
    expect(redis.listenerCount('error')).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('is watched on where the one who is told throws, at once or later', async () => {
    const failing = (...what: unknown[]): never => {
      told.push(what);
      throw new Error('nobody catches this');
    };
    watch.close();
    watch = new OutageWatch(redis.client, clock, { lost: failing, back: failing });
    await outage(5);
    redis.go();
    await clock.advance(10_000);
    watch.back();
    expect(told).toEqual([
      ['fake:1/0', undefined],
      ['fake:1/0', 5],
      ['fake:1/0', undefined],
      ['fake:1/0', 10_000],
    ]);
  });
});

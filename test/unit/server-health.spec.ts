import { describe, expect, it } from '@jest/globals';
import type { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { askHealth, type ServerHealth } from '../../lib/engine/redis/server-health.js';

/** How far the server's clock is ahead, in ms. */
const AHEAD = 3;

describe('the offset of a server’s clock', () => {
  it.each([
    ['on its way', { wall: 0, monotonic: 0, sent: 8, answered: 1 }],
    ['on its way back', { wall: 0, monotonic: 0, sent: 1, answered: 8 }],
    ['behind the wall clock', { wall: 8, monotonic: 0, sent: 1, answered: 1 }],
    ['behind the monotonic clock', { wall: 0, monotonic: 8, sent: 1, answered: 1 }],
  ])('is wrong by half of the round trip at most, where 8 ms pass %s', async (_, after) => {
    const health = await found(after);
    expect(error(health)).toBeLessThanOrEqual(health.roundTrip! / 2);
  });
});

/** What a check finds where each step takes so many ms more: readings of our clocks, the way to the server, and back. */
async function found(after: Readonly<Record<'wall' | 'monotonic' | 'sent' | 'answered', number>>) {
  let now = 1_000;
  const reading = (name: 'wall' | 'monotonic'): number => {
    const at = now;
    now += after[name];
    return at;
  };
  const connection = {
    clock: {
      wall: () => reading('wall'),
      monotonic: () => reading('monotonic'),
      after: () => () => {},
    },
    run: async (run: ScriptRun<unknown>) => {
      now += after.sent;
      const micros = (now + AHEAD) * 1_000;
      now += after.answered;
      run.read([0, micros], now);
    },
  };
  return askHealth(connection as unknown as RedisConnection, 'localhost', 'key', 1_000);
}

function error({ clockOffset }: ServerHealth): number {
  return Math.abs(clockOffset! - AHEAD);
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { PushListener } from '../../lib/engine/locks/lock-store.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';
import { type LockingProcess, withSteps } from '../support/world.js';

// Beside clients of the SETNX articles the first renewal comes early: until then one that lost a take-over may write over the lock.
const TTL = 3_000;
const EARLY = 100;

let world: MemoryWorld;
let process: LockingProcess;
/** When each renewal was asked for, in ms of the world. */
let asked: number[];
let pushes: PushListener;

beforeEach(async () => {
  asked = [];
  world = new MemoryWorld(kinds['lock']!);
  process = await careful();
});
afterEach(() => world.close());

describe.each([true, false])('a lease that is renewed early (renew: %s)', (renew) => {
  it('is renewed when its grant says, and from then on as any other', async () => {
    const start = world.clock.monotonic();
    const lease = await process.acquire({ ttl: TTL, renew });
    const [first, ...more] = await renewals(TTL / 4, start);
    expect(first).toBe(EARLY);
    expect(more).toEqual([]);
    expect((await renewals(TTL / 4, start)).length > 0).toBe(renew);
    await lease.release();
  });

  it('is renewed then also where it comes by a message of the server, or was passed on before', async () => {
    const first = await process.acquire({ ttl: TTL, renew });
    const coming = [1, 2].map(() => later(process.acquire({ ttl: TTL, renew })));
    await world.elapse(EARLY / 2);
    await first.release();
    const second = await world.finish(coming[0]!);
    const start = world.clock.monotonic();
    await world.elapse(5);
    await second.release();
    const third = await world.finish(coming[1]!);
    expect(third.fencingToken).toBe(second.fencingToken! + 1); // in memory
    await world.elapse(TTL / 4);
    expect(asked.map((at) => at - start)).toEqual([EARLY]);
    await third.release();
  });

  it('is renewed then also where the server was asked before, after a connection was lost', async () => {
    const lease = await process.acquire({ ttl: TTL, renew });
    const start = world.clock.monotonic();
    pushes.reconnected();
    expect(await renewals(TTL / 4, start)).toEqual([EARLY]);
    await lease.release();
  });

  it('is renewed then also where it was shortened before, since another call had asked for more', async () => {
    const controller = new AbortController();
    void later(process.acquire({ ttl: 2 * TTL, signal: controller.signal }));
    const second = later(process.acquire({ ttl: TTL, renew }));
    controller.abort();
    const lease = await world.finish(second);
    const start = world.clock.monotonic();
    await world.until('it is shortened', () => asked.length === 1);
    expect(await renewals(TTL / 4, start)).toEqual([EARLY]);
    await lease.release();
  });

  it('is renewed early again where another process goes on with it', async () => {
    const lease = await process.acquire({ ttl: TTL, renew });
    await world.elapse(2 * EARLY);
    const text = await lease.handOver();
    const other = await careful();
    await world.elapse(EARLY);
    const start = world.clock.monotonic();
    const restored = await world.finish(other.locks.restore(readHandOver(text)));
    expect((await renewals(4 * EARLY, start)).map(Math.round)).toEqual([EARLY]);
    await restored.release();
  });
});

/** A process beside such clients. */
function careful(): Promise<LockingProcess> {
  return world.process({ guard: 'timestamp' }, (store) =>
    withSteps(store, {
      open(listener) {
        pushes = listener;
        return store.open(listener);
      },
      extend(requests) {
        asked.push(world.clock.monotonic());
        return store.extend(requests);
      },
    }),
  );
}

/** The renewals of the next `ms`, by the ms that have passed since `from`. */
async function renewals(ms: number, from: number): Promise<number[]> {
  asked = [];
  await world.elapse(ms);
  return asked.map((at) => at - from);
}

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Client } from '../support/client.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';

const MINUTE = 60_000;
/** A waiting process that was silent for longer than this, in ms, is dead. */
const SILENCE = 3_000;

let world: MemoryWorld;
let a: Client;
let b: Client;
let c: Client;

beforeEach(async () => {
  world = new MemoryWorld(kinds['lock']!);
  const limits = { waitersPerKey: 2 };
  [a, b, c] = [await world.client(), await world.client({ limits }), await world.client()];
});

/** What is left of the queue and of the heartbeats beside the lock, in ms. */
async function lives(): Promise<(number | undefined)[]> {
  const keys = await world.keys();
  return ['queue', 'seen'].map((name) => keys.find((key) => key.name === `{lock:k}:${name}`)?.ttl);
}

describe('the heartbeat of a process that waits', () => {
  it('keeps the queue for a minute, and is written every 200 ms at most', async () => {
    await a.hold({ ttl: 10 * MINUTE });
    const { request } = await b.queue();
    expect(await lives()).toEqual([MINUTE, MINUTE]);
    await world.elapse(199);
    await b.ask(request);
    expect(await lives()).toEqual([MINUTE - 199, MINUTE - 199]);
    await world.elapse(1);
    await b.ask(request);
    expect(await lives()).toEqual([MINUTE, MINUTE]);
  });

  it('is written anew for a new queue, which else would have no end', async () => {
    await a.hold({ ttl: 10 * MINUTE });
    await c.lock.leave((await c.queue()).request);
    expect(await lives()).toEqual([undefined, MINUTE]);
    await world.elapse(1);
    await c.queue();
    expect(await lives()).toEqual([MINUTE, MINUTE]);
  });

  it('is forgotten after a minute, and not while others ask and its process may be alive', async () => {
    await a.hold({ ttl: 10 * MINUTE });
    await b.queue();
    await world.elapse(SILENCE);
    const { request } = await c.queue();
    expect(world.remembered()).toEqual([b.store.processId, c.store.processId]);
    await world.elapse(MINUTE - SILENCE);
    await c.ask(request);
    expect(world.remembered()).toEqual([c.store.processId]);
  });

  it.each([
    [SILENCE, 'is alive still', true],
    [SILENCE + 1, 'is dead', false],
  ])('was written %i ms ago: the process %s', async (ms, _how, isAlive) => {
    const { request } = await a.hold({ ttl: 10 * MINUTE });
    const { request: successor } = await b.queue();
    await world.elapse(ms);
    await a.lock.release(request, 0);
    expect(await world.holder()).toBe(isAlive ? successor.holder : '');
  });

  it('is written before a full queue is searched for the dead, so that none are its own', async () => {
    await a.hold({ ttl: 10 * MINUTE });
    await b.queue();
    await b.queue();
    await world.elapse(SILENCE + 1);
    expect(await b.ask(b.request())).toMatchObject({ kind: 'full' });
    expect((await world.snapshot()).waiting).toBe(2);
  });
});

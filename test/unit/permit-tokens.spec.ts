import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Grant } from '../../lib/engine/locks/lock-store.js';
import type { Client } from '../support/client.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';

const MINUTE = 60_000;
/** A lease of one permit of three that outlives what a test does. */
const permit = { share: { permits: 3, count: 1 }, ttl: 10 * MINUTE };

let world: MemoryWorld;
let a: Client;
let b: Client;

beforeEach(async () => {
  world = new MemoryWorld(kinds['lock']!);
  [a, b] = [await world.client(), await world.client()];
});

describe('the token of a permit', () => {
  it('is the same for who asks again within a minute, whoever has come meanwhile', async () => {
    const { request, grant } = await a.hold(permit);
    await world.elapse(MINUTE - 1);
    await b.hold(permit);
    expect(((await a.ask(request)) as Grant).fencingToken).toBe(grant.fencingToken);
  });

  it('is the same for who asks again after another has come to wait, whose clock was set back', async () => {
    const { request, grant } = await a.hold(permit);
    await b.queue({ share: { permits: 3, count: 3 } });
    await world.silence(-MINUTE);
    await b.queue({ share: { permits: 3, count: 3 } });
    expect(((await a.ask(request)) as Grant).fencingToken).toBe(grant.fencingToken);
  });

  it('is forgotten after a minute, when another comes', async () => {
    const { request } = await a.hold(permit);
    await world.elapse(MINUTE - 1);
    await b.hold(permit);
    expect(world.remembered()).toContain(request.holder);
    await world.elapse(1);
    const last = await b.hold(permit);
    expect(world.remembered()).not.toContain(request.holder);
    expect(world.remembered()).toContain(last.request.holder);
  });

  it('is forgotten with a hundred others at most when another comes, however many are old', async () => {
    const share = { permits: 200, count: 1 };
    for (let nth = 0; nth < 150; nth += 1) await a.hold({ ...permit, share });
    await world.elapse(MINUTE / 2);
    await b.hold({ ...permit, share });
    await world.elapse(MINUTE / 2 + 1); // each token is a microsecond later than the one before
    await b.hold({ ...permit, share });
    expect(world.remembered()).toHaveLength(52);
    await b.hold({ ...permit, share });
    expect(world.remembered()).toHaveLength(3);
  });

  it('is forgotten after a minute, also when nobody comes any more', async () => {
    await a.hold(permit);
    await world.elapse(MINUTE + 1);
    expect(world.remembered()).toEqual([]);
  });
});

import { expect } from '@jest/globals';
import { DEAD } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';

export const deadWaiters: Contract = {
  async 'who was not seen for three seconds is removed, the living behind are served'(world) {
    const [a, dead, living] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    for (let nth = 0; nth < 5; nth += 1) await dead.queue();
    await world.silence(DEAD / 2);
    const { request: successor } = await living.queue();
    await world.silence(DEAD / 2 + 100);
    await living.ask(successor);
    await a.lock.release(request, 0);
    const { holder, waiting } = await world.snapshot();
    expect(holder).toBe(successor.holder);
    expect(waiting).toBe(0);
  },

  async 'who was seen within three seconds is not removed'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    const { request: successor } = await b.queue();
    const early = world.redis ? 700 : 1; // a busy machine's release comes late
    await world.silence(DEAD - early);
    await a.lock.release(request, 0);
    expect(await world.holder()).toBe(successor.holder);
  },

  async 'who died before the clock was set back is removed three seconds after the living saw it'(
    world,
  ) {
    const [a, dead, living] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    await dead.queue();
    const { request: successor } = await living.queue();
    await world.silence(-3_600_000); // each was seen an hour ahead of the clock that it is now
    await living.ask(successor);
    await world.silence(DEAD + 100);
    await living.ask(successor);
    await a.lock.release(request, 0);
    const { holder, waiting } = await world.snapshot();
    expect(holder).toBe(successor.holder);
    expect(waiting).toBe(0);
  },

  async 'who lives is not taken for dead when the clock is set back'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    const { request: successor } = await b.queue();
    const { request: behind } = await c.queue();
    await world.silence(-3_600_000);
    await c.ask(behind);
    await a.lock.release(request, 0);
    expect(await world.snapshot()).toMatchObject({ holder: successor.holder, waiting: 1 });
  },

  async 'a process that waits long is not taken for dead'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const lease = await a.acquire();
    const waits = [b, b, c].map((process) =>
      later(process.acquire({ wait: Infinity }).then((successor) => successor.release())),
    );
    const entries = world.entriesOf(2) + world.entriesOf(1);
    await world.waiting(entries);
    for (let half = 0; half < 3; half += 1) {
      await world.pass(DEAD / 2);
      await world.asked(b, c);
    }
    expect((await world.snapshot()).waiting).toBe(entries);
    await lease.release();
    expect(await world.finish(Promise.all(waits))).toEqual([true, true, true]);
  },

  async 'a lock whose waiters are all dead is free'(world) {
    const [a, dead] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    await dead.queue();
    await world.silence(3_100);
    await a.lock.release(request, 0);
    expect(await world.snapshot()).toMatchObject({ type: 'none', waiting: 0 });
    expect((await a.try(a.request())).kind).toBe('held');
  },

  async 'a queue is served to its end, however many of it are dead'(world) {
    const [a, dead, living] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 60_000 });
    await Promise.all(Array.from({ length: 1_200 }, () => dead.queue()));
    await world.silence(3_100);
    const { request: successor } = await living.queue();
    await a.lock.release(request, 0);
    await world.until('the living has the lock', async () => {
      return (await living.ask(successor)).kind === 'held';
    });
    expect((await world.snapshot()).waiting).toBe(0);
  },
};

export const deadWaitersOnRedis: Contract = {
  async 'what is no entry at all is removed from the queue'(world) {
    const { control, prefix } = world.redis!;
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    await control.zadd(`{${prefix}k}:queue`, 1, 'nonsense', 2, 'a/b', 3, 'a/b/c/d');
    const { request: successor } = await b.queue();
    await a.lock.release(request, 0);
    expect(await world.snapshot()).toMatchObject({ holder: successor.holder, waiting: 0 });
  },
};

import { expect } from '@jest/globals';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import { type LockInspection, inspection } from '../../lib/engine/inspection/inspection.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { READER } from '../../lib/engine/options/index.js';
import { atMost } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { inOneSlice } from '../support/one-slice.js';
import { withSteps, type World } from '../support/world.js';

async function seen(world: World, key = 'k'): Promise<LockInspection> {
  return inspection(key, await world.snapshot(key));
}

/** What those who hold the lock are labelled. */
async function holders(world: World, key = 'k'): Promise<(string | undefined)[]> {
  const { holder, holders = holder ? [holder] : [] } = await seen(world, key);
  return holders
    .map(({ label }) => label)
    .sort((one, other) => (String(one) < String(other) ? -1 : 1));
}

export const labels: Contract = {
  async 'who holds the lock, and who waits, is shown by its label'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const lease = await a.acquire({ label: 'Seats.hold' });
    expect(await holders(world)).toEqual(['Seats.hold']);
    const waits = [later(b.acquire({ label: 'größe 木' }))];
    await world.waiting(1);
    waits.push(later(c.acquire()));
    await world.waiting(2);
    expect((await seen(world)).waiters.map(({ label }) => label)).toEqual(['größe 木', undefined]);
    await lease.release();
    const next = await world.finish(waits[0]!);
    expect(await holders(world)).toEqual(['größe 木']);
    await next.release();
    const last = await world.finish(waits[1]!);
    expect(await holders(world)).toEqual([undefined]);
    expect((await seen(world)).holder ?? {}).not.toHaveProperty('label');
    await last.release();
  },

  async 'those who hold it together are shown each by its own'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const share = { permits: 3, count: 1 };
    const leases = [
      await a.acquire({ key: 'permits', share, label: 'one' }),
      await b.acquire({ key: 'permits', share: { ...share, count: 2 }, label: 'two' }),
      await a.acquire({ key: 'readers', share: READER, label: 'reads' }),
      await b.acquire({ key: 'readers', share: READER, fencing: false, label: 'looks' }),
    ];
    expect(await holders(world, 'permits')).toEqual(['one', 'two', 'two']);
    expect(await holders(world, 'readers')).toEqual(['looks', 'reads']);
    for (const lease of leases) expect(await lease.release()).toBe(true);
  },

  async 'of several keys each lock has it'(world) {
    const a = await world.process();
    const lease = await a.acquire({ key: ['j', 'k'], label: 'transfer' });
    for (const key of ['j', 'k']) expect(await holders(world, key)).toEqual(['transfer']);
    await lease.release();
  },
};

/** Of what one holder has alone. */
export const labelsOfAlone: Contract = {
  async 'it says whether the holder has tokens, as without a label'(world) {
    const a = await world.process();
    const lease = await a.acquire({ label: 'fenced' });
    expect((await seen(world)).fencingToken).toBe(lease.fencingToken);
    await lease.release();
    const unfenced = await a.acquire({ label: 'unfenced', fencing: false });
    expect((await seen(world)).fencingToken).toBeUndefined();
    expect(await holders(world)).toEqual(['unfenced']);
    await unfenced.release();
  },

  async 'a caller that waits in vain is told who holds the lock'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire({ label: 'Seats.hold' });
    const holder = { host: expect.any(String), pid: process.pid, label: 'Seats.hold' };
    const all = async (): Promise<void> => {
      const calls = [b.acquire({ wait: 50 }), b.acquire({ wait: 50 }), a.acquire({ wait: 50 })];
      const several = b.acquire({ key: ['j', 'k'], wait: 50 });
      const nested = b
        .acquire({ key: 'other' })
        .then((outer) =>
          outer.run(() => b.acquire({ wait: 50 })).finally(() => void outer.release()),
        );
      const errors: unknown[] = [];
      for (const call of [...calls, several, nested].map(later)) {
        errors.push(await world.finish(call).catch((error: unknown) => error));
      }
      for (const error of errors) {
        expect(error).toMatchObject({ code: 'LOCK_NOT_ACQUIRED', holder });
      }
    };
    // Redis has 100 ms to say who it is, which a busy machine may not leave it.
    for (let tries = world.redis ? 10 : 1; tries > 0; tries -= 1) {
      const isTold = await all().then(
        () => true,
        (error: unknown) => {
          if (tries === 1) throw error;
          return false;
        },
      );
      if (isTold) break;
    }
    const once: unknown = await b.acquire({ wait: 0 }).catch((error: unknown) => error);
    expect(once).toMatchObject({ code: 'LOCK_NOT_ACQUIRED', holder: undefined });
    await lease.release();
  },

  async 'a caller that waits in vain is refused all the same where Redis does not say who holds the lock'(
    world,
  ) {
    const looks: string[] = [];
    let answer: () => Promise<never> | never;
    const answers = [
      (): Promise<never> => Promise.reject(new LockStoreError('It did not answer.')),
      (): Promise<never> => new Promise(() => {}),
      (): never => {
        throw new LockStoreError('It cannot be asked.');
      },
    ];
    const [a, b] = [
      await world.process(),
      await world.process({}, (store) =>
        withSteps(store, {
          inspect: (key) => {
            looks.push(key);
            return answer();
          },
        }),
      ),
    ];
    const lease = await a.acquire();
    for (answer of answers) {
      const from = b.clock.monotonic();
      const calls = [1, 2, 3].map(() => later(b.acquire({ wait: 50 })));
      for (const call of calls) {
        await expect(world.finish(call)).rejects.toMatchObject({ holder: undefined });
      }
      expect(b.clock.monotonic() - from).toBeLessThan(atMost(world, 200));
    }
    if (!world.redis) expect(looks).toEqual(['k', 'k', 'k']); // one for all that time out at once
    await lease.release();
  },

  async 'it goes along when the lease is handed over'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire({ label: 'Seats.hold' });
    const text = await lease.handOver();
    expect(await seen(world)).toMatchObject({ handedOver: true, holder: { label: 'Seats.hold' } });
    const restored = await b.locks.restore(readHandOver(text));
    expect(await holders(world)).toEqual(['Seats.hold']);
    expect(await seen(world)).not.toHaveProperty('handedOver');
    await restored.release();
  },

  async 'callers of a process that pass the lock on have that of the first of them'(world) {
    const a = await world.process();
    const next = await inOneSlice(async () => {
      const lease = await a.acquire({ label: 'first' });
      const wait = later(a.acquire({ label: 'second' }));
      if (world.fairness === 'strict') await world.waiting(1);
      await lease.release();
      return world.finish(wait);
    });
    const shown = world.fairness === 'strict' ? 'second' : 'first';
    expect(await holders(world)).toEqual([shown]);
    await next.release();
  },
};

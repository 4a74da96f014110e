import { beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { lastValueFrom } from 'rxjs';
import { type Lease, LeaseLostError, type LockService } from '../../lib/index.js';
import { useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Imports } from './imports-that-are-told.js';

const bench = useBench();
let rival: LockService;
let imports: Imports;
beforeAll(async () => {
  rival = await bench.rival();
  imports = (await bench.app({ providers: [Imports] })).get(Imports);
});

describe('a method whose lease is lost while it runs', () => {
  it('is told by the signal, and rejects although it succeeded', async () => {
    let seen: unknown;
    const running = imports.run(async (lease) => {
      expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
      await lose(lease);
      expect(lease.held).toBe(false);
      expect(() => lease.assertHeld()).toThrow(LeaseLostError);
      seen = lease.signal.reason;
      return 'done';
    });
    await expect(running).rejects.toThrow(LeaseLostError);
    expect(seen).toBeInstanceOf(LeaseLostError);
    expect(seen).toMatchObject({ code: 'LEASE_LOST', reason: 'forced', key: 'import' });
  });

  it('keeps its own error', async () => {
    const own = new TypeError('own');
    const running = imports.run(async (lease) => {
      await lose(lease);
      throw own;
    });
    await expect(running).rejects.toBe(own);
  });

  it('keeps its result under onLost ignore', async () => {
    const running = imports.runAnyway(async (lease) => {
      await lose(lease);
      return 'done';
    });
    expect(await running).toBe('done');
  });

  it('does not touch the lock of the next holder', async () => {
    let next: Lease | undefined;
    const running = imports.run(async (lease) => {
      await lose(lease);
      next = await rival.acquire('import');
      return 'done';
    });
    await expect(running).rejects.toThrow(LeaseLostError);
    expect(next!.held).toBe(true);
    expect((await rival.inspect('import')).state).toBe('held');
    expect(await next!.release()).toBe(true);
  });

  it('loses a lease that is not renewed at its ttl', async () => {
    const running = imports.runShortly(async (lease) => {
      await once(lease.signal, 'abort');
      return 'done';
    });
    await expect(running).rejects.toMatchObject({ reason: 'expired' });
  });

  it('keeps a lease that is renewed beyond its ttl', async () => {
    const app = await bench.app({ providers: [Imports] }, { ttl: '3s' });
    const running = app.get(Imports).run(async (lease) => {
      const end = lease.expiresAt;
      await until('its ttl is over', () => Date.now() > end);
      expect(lease.held).toBe(true);
      return 'done';
    });
    expect(await running).toBe('done');
  });
});

describe('a method under several locks, of which one is lost while it runs', () => {
  it.each(['promise', 'observable', 'iterable'] as const)('names that one: %s', async (kind) => {
    const calls = {
      promise: () => imports.runBoth(lose),
      observable: () => lastValueFrom(imports.streamBoth(lose)),
      iterable: async () => {
        for await (const each of imports.iterateBoth(lose)) expect(each).toBe('done');
      },
    };
    const error: unknown = await calls[kind]().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error).toMatchObject({ key: 'import', reason: 'forced' });
  });
});

/** Loses the lease to another replica, and has heard of it. */
async function lose(lease: Lease): Promise<void> {
  const aborted = once(lease.signal, 'abort');
  expect(await rival.forceRelease('import')).toBe(true);
  await aborted;
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  Locked,
  LockOptionsError,
  LockService,
  QuorumNotReachedError,
  RedisLockModule,
} from '../../lib/index.js';
import { Quorum } from '../support/quorum.js';
import { until } from '../support/until.js';

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.of(3);
});
afterAll(() => quorum.stop());

@Injectable()
class Counter {
  value = 0;

  @Locked('counter')
  async increment(): Promise<void> {
    const { value } = this;
    await new Promise(setImmediate);
    this.value = value + 1;
  }
}

describe('RedisLockModule on three servers', () => {
  it('runs decorated methods and sections one at a time', async () => {
    const { app, counter, locks } = await start(quorum.urls);
    await Promise.all(Array.from({ length: 20 }, () => counter.increment()));
    expect(counter.value).toBe(20);
    await locks.withLock('counter', async (lease) => {
      expect(Number.isSafeInteger(lease.fencingToken)).toBe(true);
      expect(await locks.inspect('counter')).toMatchObject({ key: 'counter' });
    });
    await app.close();
  });

  it('refuses what votes cannot keep safe, at the call', async () => {
    const { app, locks } = await start(quorum.urls);
    await expect(locks.acquire('k', { mode: 'shared' })).rejects.toThrow(/A quorum cannot share/);
    await expect(locks.semaphore('s', { permits: 2 }).acquire()).rejects.toThrow(LockOptionsError);
    await expect(locks.acquire('k', { maxWaiting: 5 })).rejects.toThrow(/A quorum cannot count/);
    await expect(locks.optimistic('k')).rejects.toThrow(/A quorum cannot read optimistically/);
    const lease = await locks.acquire('k', { label: 'Orders.ship' });
    expect((await locks.inspect('k')).holder).toMatchObject({ label: 'Orders.ship' });
    await expect(locks.acquire('k', { wait: 50 })).rejects.toMatchObject({
      holder: { label: 'Orders.ship' },
    });
    await expect(lease.downgrade()).rejects.toThrow(/A quorum cannot downgrade/);
    expect(lease.held).toBe(true);
    await lease.release();
    await app.close();
  });

  it('answers with the votes while two hang, and recovers when they are back', async () => {
    const { app, locks } = await start(quorum.urls);
    quorum.freeze(0, 1);
    const failure = await locks.acquire('k').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(QuorumNotReachedError);
    expect(failure).toMatchObject({ votes: { nodes: 3, granted: 1, failed: 2 } });
    quorum.thaw();
    await until('a majority answers in time', () =>
      locks.withLock('k', { wait: '5s' }, async () => true).catch(() => false),
    );
    await app.close();
  });

  it('starts with one of them dead', async () => {
    await quorum.servers[2]!.kill();
    const { app, counter } = await start(quorum.urls);
    await counter.increment();
    expect(counter.value).toBe(1);
    await app.close();
    await quorum.servers[2]!.run();
  });

  it.each([
    [{ nodes: ['redis://one'] }, /takes two or more/],
    [{ nodes: ['redis://one', 'two'] }, /"nodes" \(server 2\) takes a URL/],
    [{ nodes: ['redis://one', 'redis://two'], redis: 'redis://three' }, /exclude each other/],
    [{ nodes: ['redis://one', 'redis://two'], maxWaiting: 5 }, /"maxWaiting" and "nodes"/],
  ])('refuses the options %j', (options, reason) => {
    expect(() => RedisLockModule.forRoot(options)).toThrow(reason);
  });
});

/** An application that locks on these servers. */
async function start(nodes: readonly string[]) {
  const module = await Test.createTestingModule({
    imports: [RedisLockModule.forRoot({ nodes })],
    providers: [Counter],
  }).compile();
  const app = await module.createNestApplication({ logger: false }).init();
  return { app, counter: app.get(Counter), locks: app.get(LockService) };
}

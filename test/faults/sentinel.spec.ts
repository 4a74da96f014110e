import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  lockFormat,
  moduleSettings,
  READER,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { samples } from '../dialects/samples.js';
import { Client } from '../support/client.js';
import { closeAll, closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { LockProcess } from '../support/lock-process.js';
import { deaf } from '../support/deaf.js';
import { until } from '../support/until.js';

let group: SentinelProcess;
afterEach(closeAll);

describe('behind Sentinels', () => {
  beforeAll(async () => {
    group = await SentinelProcess.start();
  });
  afterAll(async () => {
    await group?.stop();
  });

  it('says so at its start', async () => {
    const { found } = (await client()).store.describe();
    expect(found).toMatch(
      /^(Redis|Valkey) [\d.]+ at Sentinel "locks-\d+" \(127\.0\.0\.1:\d+\), with 2 replicas$/,
    );
  });

  it('takes the application’s own client', async () => {
    const theirs = new Redis({ ...group.source, lazyConnect: true });
    const locks = await client({ redis: theirs });
    const lease = await locks.acquire('k');
    expect(await lease.release()).toBe(true);
    expect(theirs.status).toBe('wait');
  });

  it('keeps a lease through a planned switch of the primary, once it is verified there', async () => {
    const locks = await client();
    const lease = await locks.acquire('kept', { ttl: 30_000 });
    const extensions = jest.spyOn(locks.store, 'extend');
    const before = await group.primary();
    await group.failOver();
    await until('the lease is verified', async () => {
      const settled = await Promise.allSettled(extensions.mock.results.map(({ value }) => value));
      return settled.some(({ status }) => status === 'fulfilled');
    });
    expect(lease.held).toBe(true);
    const primary = await group.primary();
    expect(primary).not.toBe(before);
    expect(await direct(primary).get('lock:kept')).not.toBeNull();
    const other = await client();
    await expect(other.acquire('kept', { wait: 0 })).rejects.toThrow('is held by another');
    expect(await lease.release()).toBe(true);
    expect(await direct(primary).get('lock:kept')).toBeNull();
  });

  // The last of them: a Sentinel that stood still for 2 s does nothing for the next 30 s.
  it('tells a planned switch of the primary as one outage, and its own end not at all', async () => {
    const told: string[] = [];
    const settings = moduleSettings({ redis: group.source, durability: 'ignore' });
    const store = new RedisLockStore(settings, systemClock, {
      lost: (address) => void told.push(`lost ${address}`),
      back: (address) => void told.push(`back ${address}`),
    });
    closing.push(() => store.close());
    await store.open(deaf);
    const before = await group.primary();
    await group.failOver();
    await until('the return is told', () => told.length > 1);
    await store.close();
    expect(told).toEqual([
      `lost Sentinel "${group.name}" (127.0.0.1:${before})`,
      expect.stringMatching(/^back Sentinel "locks-\d+" \(127\.0\.0\.1:\d+\)$/), // where the Sentinels say by then
    ]);
  });

  it('does without a Sentinel that is down, and without one that hangs', async () => {
    const { sentinels, name } = group.source;
    const down = { host: '127.0.0.1', port: await freePort() };
    const redis = { name, sentinels: [down, ...sentinels] };
    const locks = await client({ redis });
    group.signalSentinel(0, 'SIGSTOP');
    try {
      const late = await client({ redis });
      expect(await (await late.acquire('k')).release()).toBe(true);
    } finally {
      group.signalSentinel(0, 'SIGCONT');
    }
    expect(await (await locks.acquire('k')).release()).toBe(true);
  });
});

describe('a primary that is demoted', () => {
  it('loses no lease by answering READONLY, and is connected to anew', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const control = direct(server.port);
    const locks = await client({ redis: server.url });
    const known = await locks.acquire('known', { ttl: 60_000 });
    const unknown = await locks.acquire('unknown', { ttl: 60_000 });
    const others = await locks.acquire('others', { ttl: 60_000 });
    const values = await control.mget('lock:unknown', 'lock:others');
    await control.del('lock:unknown');
    await control.set('lock:others', 'an earlier holder');
    const ids = async (): Promise<string[]> => {
      const clients = String(await control.call('CLIENT', 'LIST', 'TYPE', 'normal'));
      return [...clients.matchAll(/^id=(\d+)/gm)].map(([, id]) => id!);
    };
    await control.replicaof('127.0.0.1', '1'); // nobody is there: it keeps what it has
    const before = await ids();
    for (const lease of [known, unknown, others]) {
      await until('it is answered', () =>
        lease.extend().then(
          () => false,
          (error: Error) => error.message.includes('READONLY'),
        ),
      );
    }
    await until('it is connected to anew', async () => {
      const now = await ids();
      return now.length >= before.length && now.filter((id) => !before.includes(id)).length > 0;
    });
    expect([known.held, unknown.held, others.held]).toEqual([true, true, true]);
    // In one go: what looks after the leases must not come between.
    const [unknownId, othersId] = values.map(String);
    const back = control.pipeline().replicaof('NO', 'ONE');
    await back.mset('lock:unknown', unknownId!, 'lock:others', othersId!).exec();
    for (const lease of [known, unknown, others]) {
      await until('it is extended', () =>
        lease.extend().then(
          () => true,
          () => false,
        ),
      );
      expect(lease.held).toBe(true);
    }
  });

  it('answers no step by old data that the lock is not its holder’s, whether nobody or another has it there', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const control = direct(server.port);
    const holder = new Client((await client({ redis: server.url })).store);
    const steps = await stepsOfHolders(holder);
    const locks = (await control.keys('*')).filter((name) => !name.includes('{'));
    for (const owner of ['nobody', 'another']) {
      await control.flushall();
      if (owner === 'another') {
        for (const name of locks) await control.set(name, 'an earlier holder');
      }
      const answers: [string, unknown][] = [];
      for (const [name, step] of steps) {
        await until('it is connected', () =>
          holder.lock.inspect('alone', 0).then(Boolean, () => false),
        );
        await control.replicaof('127.0.0.1', '1'); // nobody is there: it keeps what it has
        answers.push([
          name,
          await step().catch(({ message }: Error) => /READONLY/.exec(message)?.[0]),
        ]);
        await control.replicaof('NO', 'ONE');
      }
      expect(answers).toEqual(steps.map(([name]) => [name, 'READONLY']));
    }
  });
});

/** Holds locks of every kind and format; returns what can be done with each. */
async function stepsOfHolders(holder: Client): Promise<[string, () => Promise<unknown>][]> {
  const { lock } = holder;
  const { request } = await holder.hold({ key: 'alone' });
  const asked = holder.request({ key: 'alone', condition: { name: 'c', over: false } });
  const steps: [string, () => Promise<unknown>][] = [
    ['release with a minimum hold', () => lock.release(request, 1_000)],
    ['transfer', () => lock.transfer(request, holder.request())],
    ['downgrade', () => lock.downgrade(request)],
    ['signal', () => lock.signal(request, 'c', 1)],
    ['await', () => holder.ask({ ...asked, former: request })],
  ];
  const formats = samples.map((dialect) => ({ format: lockFormat(dialect) }));
  const reader = { share: READER };
  const shared = formats.filter(({ format }) => format.kind === 'readWrite');
  const kinds = [
    reader,
    { share: { permits: 3, count: 2 } },
    ...formats,
    ...shared.map((kind) => ({ ...kind, ...reader })),
  ];
  const held = [request];
  for (const [nth, kind] of kinds.entries()) {
    held.push((await holder.hold({ key: `of ${nth}`, ...kind })).request);
  }
  for (const each of held) {
    steps.push([`extend ${each.key}`, () => lock.extend([each])]);
    steps.push([`release ${each.key}`, () => lock.release(each, 0)]);
  }
  return steps;
}

async function client(options: RedisLockOptions = {}): Promise<LockProcess> {
  const { redis = group.source, ...rest } = options;
  const made = new LockProcess({ redis, commandTimeout: 1_500, durability: 'ignore', ...rest });
  closing.push(() => made.close());
  await made.locks.open();
  return made;
}

function direct(port: number): Redis {
  const redis = controlOf({ port });
  closing.push(() => redis.disconnect());
  return redis;
}

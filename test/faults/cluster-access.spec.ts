import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { type Clock, type RedisSource, systemClock } from '../../lib/engine/options/index.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { closeAll, closing } from '../support/closing.js';
import { LockProcess } from '../support/lock-process.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';
import { PASSWORD, SecureCluster } from './secure-cluster.js';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

afterEach(closeAll);

describe('a Cluster that has TLS, host names and users', () => {
  let cluster: SecureCluster;
  beforeAll(async () => {
    cluster = await SecureCluster.start();
  });
  afterAll(() => cluster?.stop());

  it('is reached by options', () => expectAllIn({ cluster: cluster.seeds, ...cluster.access }));

  it('is reached by URLs that have user, password and TLS', () => {
    const user = `locks:${encodeURIComponent(PASSWORD)}`;
    return expectAllIn({
      cluster: cluster.ports.map((port) => `rediss://${user}@localhost:${port}`),
      tls: cluster.access.tls,
    });
  });

  it.each([
    ['for all nodes', { access: 'options' }],
    ['of the nodes it begins with', { access: 'nodes' }],
  ])('is reached through a client of the application with options %s', async (_, { access }) => {
    const options = cluster.access;
    const theirs =
      access === 'options'
        ? new Cluster(cluster.seeds, { lazyConnect: true, redisOptions: options })
        : new Cluster(
            cluster.seeds.map((seed) => ({ ...seed, ...options })),
            { lazyConnect: true },
          );
    await expectAllIn(theirs);
    expect(theirs.status).toBe('wait');
  });

  it('is followed by host names when a slot moves', async () => {
    const one = await client({ cluster: cluster.seeds, ...cluster.access });
    await cluster.moveSlot(slotOf('lock:moved'));
    expect((await one.acquire('moved')).held).toBe(true);
  });

  it('refuses who has the wrong password, or trusts another authority', async () => {
    const wrong = { cluster: cluster.seeds, ...cluster.access, password: 'wrong' };
    await expect(client(wrong)).rejects.toMatchObject({ retryable: false });
    const stranger = { cluster: cluster.seeds.slice(0, 1), ...cluster.access, tls: {} };
    const clock = new StallingClock(systemClock);
    let error: unknown;
    client(stranger, clock).catch((why: unknown) => (error = why));
    await until('it is given up', () => {
      if (!error) clock.pass(100);
      return error;
    });
    expect(error).toBeInstanceOf(LockStoreError);
  });
});

describe('a Cluster whose nodes know themselves by addresses that are not reached from here', () => {
  let cluster: ClusterProcess;
  beforeAll(async () => {
    cluster = await ClusterProcess.start({
      args: (at) =>
        `--cluster-announce-port ${at + 1} --cluster-announce-hostname inside.invalid --cluster-preferred-endpoint-type hostname`.split(
          ' ',
        ),
    });
  });
  afterAll(() => cluster?.stop());

  const natMap = (): Record<string, { host: string; port: number }> =>
    Object.fromEntries(
      cluster.primaries.map(({ port }, at) => [
        `inside.invalid:${at + 1}`,
        { host: '127.0.0.1', port },
      ]),
    );

  it('is reached by a natMap of the options', () =>
    expectAllIn({ cluster: cluster.seeds, natMap: natMap() }));

  it.each([
    ['a table', () => natMap()],
    ['a function', () => (address: string) => natMap()[address] ?? null],
  ])("is reached by a natMap of the application's client that is %s", (_, map) =>
    expectAllIn(new Cluster(cluster.seeds, { lazyConnect: true, natMap: map() as never })),
  );

  it('is followed when a slot moves', async () => {
    const one = await client({ cluster: cluster.seeds, natMap: natMap() });
    await cluster.moveSlot(slotOf('lock:moved'));
    expect((await one.acquire('moved')).held).toBe(true);
  });
});

it('a Cluster that prefers host names and has none is reached by addresses', async () => {
  const preferred = ['--cluster-preferred-endpoint-type', 'hostname'];
  const cluster = await ClusterProcess.start({ args: () => preferred });
  closing.push(() => cluster.stop());
  await expectAllIn({ cluster: cluster.seeds });
});

/** Locks on every primary, and hands them over between processes. */
async function expectAllIn(redis: RedisSource): Promise<void> {
  const [one, other] = [await client(redis), await client(redis)];
  for (const key of KEYS) {
    const lease = await one.acquire(key);
    const next = other.acquire(key);
    expect(await lease.release()).toBe(true);
    expect((await next).held).toBe(true);
    await (await next).release();
  }
}

async function client(redis: RedisSource, clock: Clock = systemClock): Promise<LockProcess> {
  const one = new LockProcess({ redis, commandTimeout: 1_000 }, undefined, clock);
  closing.push(() => one.close());
  await one.locks.open();
  return one;
}

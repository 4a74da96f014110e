import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisSource } from '../../lib/engine/options/index.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { FakeSentinels } from '../support/fake-sentinels.js';
import { FaultProxy, type Link } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

const SWITCHES = process.env['FULL'] ? 100 : 25;
/** How late Sentinels answer, in ms. */
const LATENESS = 100;

afterEach(closeAll);

describe('behind Sentinels that answer 100 ms late', () => {
  it(`no process is left without locks by ${SWITCHES} switches`, async () => {
    const args = ['--repl-diskless-sync-delay', '0'];
    const servers = [await RedisProcess.start({ args }), await RedisProcess.start({ args })];
    closing.push(...servers.map((server) => () => server.stop()));
    const admins = servers.map(({ port }) => direct(port));
    const sentinels = await FakeSentinels.start(servers[0]!.port);
    closing.push(() => sentinels.stop());
    const clients = await processes(sentinels.source, 3);
    let primary = 0;
    for (let switches = 0; switches < SWITCHES; switches += 1) {
      const demoted = admins[primary]!;
      primary = 1 - primary;
      await admins[primary]!.replicaof('NO', 'ONE');
      sentinels.primary = servers[primary]!.port;
      await demoted.replicaof('127.0.0.1', sentinels.primary);
      for (const type of ['normal', 'pubsub']) await demoted.call('CLIENT', 'KILL', 'TYPE', type);
      await sleep(Math.random() * 3 * LATENESS); // somewhere in the middle of asking
      sentinels.announce();
    }
    await allServe(clients, admins);
  });

  it('no process is left without locks by a real switch', async () => {
    const group = await SentinelProcess.start();
    closing.push(() => group.stop());
    const { sentinels, name } = group.source;
    const proxies = await Promise.all(sentinels.map(({ port }) => FaultProxy.before(port)));
    for (const proxy of proxies) {
      proxy.down = { delay: LATENESS };
      closing.push(() => proxy.close());
    }
    const slow = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
    const clients = await processes({ sentinels: slow, name, updateSentinels: false }, 4);
    await group.failOver();
    await allServe(
      clients,
      group.servers.map(({ port }) => direct(port)),
    );
  });
});

it('who subscribes to a Sentinel again, and hears nothing until its connection ends, goes on', async () => {
  const group = await SentinelProcess.start();
  closing.push(() => group.stop());
  const proxy = await FaultProxy.before(group.source.sentinels[0]!.port);
  closing.push(() => proxy.close());
  const { name } = group.source;
  const sentinels = [{ host: '127.0.0.1', port: proxy.port }];
  const [client] = await processes({ sentinels, name, updateSentinels: false }, 1);
  const subscribers = (): Link[] => [...proxy.links].filter(({ subscriber }) => subscriber);
  await until('it hears of switches', () => subscribers().length > 0);
  const lost = proxy.once(([command]) => command === 'subscribe', 'lose');
  for (const link of subscribers()) link.reset();
  await lost;
  await client!.close();
  await until('no connection is left', () => proxy.links.size === 0); // Jest fails where nobody heeds a rejection
});

it('a failover of another primary that the Sentinels watch replaces no connection, one of ours does each', async () => {
  const server = await RedisProcess.start();
  closing.push(() => server.stop());
  const admin = direct(server.port);
  const sentinels = await FakeSentinels.start(server.port);
  closing.push(() => sentinels.stop());
  await processes(sentinels.source, 1);
  const made = async (): Promise<number> =>
    Number(/connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
  await until('both connections hear of switches', () => sentinels.listening === 6);
  const before = await made();
  sentinels.announce('other');
  await sleep(10 * LATENESS);
  expect(await made()).toBe(before);
  sentinels.announce();
  await until('both are replaced', async () => (await made()) >= before + 2);
  await sleep(5 * LATENESS);
  expect(await made()).toBe(before + 2);
});

async function processes(redis: RedisSource, count: number): Promise<LockProcess[]> {
  const made = Array.from({ length: count }, () => {
    const client = new LockProcess({ redis, commandTimeout: 1_000, durability: 'ignore' });
    closing.push(() => client.close());
    return client;
  });
  await Promise.all(made.map((client) => client.locks.open()));
  return made;
}

function direct(port: number): Redis {
  const redis = controlOf({ port });
  closing.push(() => redis.disconnect());
  return redis;
}

/** Each of them takes and gives back a lock, and hears what is said to it: a replica repeats what its primary is told. */
async function allServe(clients: readonly LockProcess[], servers: readonly Redis[]): Promise<void> {
  for (const [at, client] of clients.entries()) {
    await until(`process ${at} takes a lock`, () =>
      client.acquire(`of-${at}`, { wait: 0 }).then(
        (lease) => lease.release(),
        () => false,
      ),
    );
  }
  await until('each hears its inbox', async () => {
    const each = servers.map((server) => server.pubsub('CHANNELS', 'lock:inbox:*'));
    const heard = (await Promise.all(each)).flat();
    return clients.every(({ store }) => heard.includes(`lock:inbox:${store.processId}`));
  });
}

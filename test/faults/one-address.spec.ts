import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcquireOptions, RedisLockOptions } from '../../lib/options/index.js';
import { linked } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

/** A primary and its replica, and one address that leads to the primary: new connections only, as a VIP, a name or a proxy does. */
let primary: RedisProcess;
let replica: RedisProcess;
let control: Redis;
let address: FaultProxy;
let clients: LockProcess[] = [];

beforeEach(async () => {
  const args = ['--repl-diskless-sync-delay', '0'];
  primary = await RedisProcess.start({ args });
  replica = await RedisProcess.start({
    args: [...args, '--replicaof', '127.0.0.1', String(primary.port)],
  });
  control = controlOf(primary.url);
  await until('the replica is linked', () => linked(control, 1));
  address = await FaultProxy.before(primary.port);
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  control.disconnect();
  await address.close();
  await Promise.all([primary.stop(), replica.stop()]);
});

async function start(options: RedisLockOptions): Promise<LockProcess> {
  const client = new LockProcess({
    redis: address.url,
    ...(!options.replicas && { durability: 'ignore' }),
    ...options,
  });
  clients.push(client);
  await client.locks.open();
  return client;
}

/** A planned switch, which loses no write; connections stay where they are. */
async function switchOver(): Promise<void> {
  await control.call('FAILOVER', 'TO', '127.0.0.1', String(replica.port));
  await until('the primary follows the replica', async () => (await control.role())[0] === 'slave');
  address.target = replica.port;
}

const KINDS: Record<string, [call: AcquireOptions[], options?: RedisLockOptions]> = {
  'held alone, served by process': [[{}], { fairness: 'local' }],
  'held alone, in strict order': [[{}], { fairness: 'strict' }],
  'held alone, confirmed by the replica': [[{}], { replicas: { acks: 1 }, ttl: 2_000 }],
  'of readers and writers': [[{ mode: 'shared' }, {}]],
};

describe.each(Object.keys(KINDS))(
  'after a switch of the primary behind one address, a lock %s',
  (kind) => {
    it('has one holder at a time, and every process is served', async () => {
      const [calls, options = {}] = KINDS[kind]!;
      const processes = await Promise.all([1, 2, 3].map(() => start(options)));
      const served = processes.map(() => 0);
      let beside = 0;
      let writers = 0;
      let readers = 0;
      let isOver = false;
      const work = async (at: number, call: AcquireOptions): Promise<void> => {
        while (!isOver) {
          const lease = await processes[at]!.acquire('k', { wait: 60_000, ...call }).catch(
            () => {},
          );
          if (!lease) continue;
          const reads = call.mode === 'shared';
          if (writers > 0 || (!reads && readers > 0)) beside += 1;
          if (reads) readers += 1;
          else writers += 1;
          await sleep(2);
          if (reads) readers -= 1;
          else writers -= 1;
          served[at]! += 1;
          await lease.release().catch(() => {});
        }
      };
      const workers = processes.flatMap((_, at) =>
        [...calls, ...calls].map((call) => work(at, call)),
      );
      const each = (count: number): Promise<unknown> => {
        const from = [...served];
        return until(
          `each process is served ${count} times`,
          () => served.every((now, at) => now - from[at]! >= count),
          60_000,
        );
      };
      await each(10);
      await switchOver();
      await each(50);
      isOver = true;
      await Promise.all(workers);
      expect(beside).toBe(0);
      for (const { store } of processes) {
        await until('its inbox is heard', async () => (await store.health(1_000)).inbox === true);
      }
    });
  },
);

it('an inbox at a replica is not heard, though the replica is sent what is published', async () => {
  const client = await start({});
  address.target = replica.port;
  for (const link of address.links) if (link.subscriber) link.reset();
  await until('it is noticed', async () => (await client.store.health(1_000)).inbox === false);
  address.target = primary.port;
  await until('it has moved', async () => (await client.store.health(1_000)).inbox === true);
});

it('a start where commands and subscriptions reach two servers ends with an error that says so', async () => {
  const first = [primary.port]; // the command connection; the inbox reaches the replica, each time
  Object.defineProperty(address, 'target', { get: () => first.shift() ?? replica.port });
  const client = new LockProcess({ redis: address.url, connectTimeout: 1_000 });
  clients.push(client);
  await expect(client.locks.open()).rejects.toThrow('leads to several servers');
});

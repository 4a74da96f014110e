import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { linked } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { Application } from '../histories/application.js';
import { controlOf } from '../support/control.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

/** A primary and its replica, and one address that leads to the primary: new connections only, as a VIP, a name or a proxy does. */
let primary: RedisProcess;
let replica: RedisProcess;
let control: Redis;
let address: FaultProxy;
let closing: { close(): Promise<void> }[] = [];

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
  await Promise.all(closing.map((each) => each.close()));
  closing = [];
  control.disconnect();
  await address.close();
  await Promise.all([primary.stop(), replica.stop()]);
});

async function start(options: RedisLockOptions): Promise<Application> {
  const app = await Application.start(
    {
      redis: address.url,
      ...(!options.replicas && { durability: 'ignore' }),
      ...options,
    },
    systemClock,
    (store) => store,
  );
  closing.push(app);
  await app.locks.inspect('k');
  return app;
}

/** The primary and its replica change places, and no write is lost. */
async function demote(): Promise<void> {
  await control.call('FAILOVER', 'TO', '127.0.0.1', String(replica.port));
  await until('the primary follows the replica', async () => (await control.role())[0] === 'slave');
}

/** A planned switch; connections stay where they are. */
async function switchOver(): Promise<void> {
  await demote();
  address.target = replica.port;
}

/** One turn: it is inside while it has what `most` may have at a time. */
type Turn = (app: Application, inside: (most: number) => Promise<void>) => Promise<unknown>;

const wait = 60_000;

const alone: Turn = ({ locks }, inside) => locks.withLock('k', { wait }, () => inside(1));
const reading: Turn = ({ locks }, inside) =>
  locks.withLock('k', { wait, mode: 'shared' }, () => inside(Infinity));
const permitted: Turn = ({ locks }, inside) =>
  locks.semaphore('k', { permits: 2 }).withPermit({ wait }, () => inside(2));
const awaiting: Turn = async ({ locks }, inside) => {
  const lease = await locks.acquire('k', { wait });
  try {
    await inside(1);
    await locks.condition(lease, 'met').await({ wait: 100 });
    await inside(1);
  } finally {
    await lease.release();
  }
};
const signalling: Turn = async ({ locks }, inside) => {
  const lease = await locks.acquire('k', { wait });
  try {
    await inside(1);
    await locks.condition(lease, 'met').signal();
  } finally {
    await lease.release();
  }
};
const leading: Turn = async ({ locks }, inside) => {
  const election = locks.election('k');
  await election.campaign();
  await inside(1);
  await election.resign();
};

const KINDS: Record<string, [turns: Turn[], options?: RedisLockOptions]> = {
  'a lock held alone, served by process,': [[alone], { fairness: 'local' }],
  'a lock held alone, in strict order,': [[alone], { fairness: 'strict' }],
  'a lock held alone, confirmed by the replica,': [[alone], { replicas: { acks: 1 }, ttl: 2_000 }],
  'a lock of readers and writers': [[reading, alone]],
  'a semaphore': [[permitted]],
  'a lock with a condition': [[awaiting, signalling]],
  'an election': [[leading]],
};

describe.each(Object.keys(KINDS))(
  'after a switch of the primary behind one address, %s',
  (kind) => {
    it('has as many holders at a time as may be, and every process is served', async () => {
      const [turns, options = {}] = KINDS[kind]!;
      const apps = await Promise.all([1, 2, 3].map(() => start(options)));
      const served = apps.map(() => 0);
      const now: number[] = [];
      let tooMany = 0;
      let isOver = false;
      const work = async (at: number, turn: Turn): Promise<void> => {
        const inside = async (most: number): Promise<void> => {
          now.push(most);
          if (now.length > Math.min(...now)) tooMany += 1;
          await sleep(2);
          now.splice(now.indexOf(most), 1);
          served[at]! += 1;
        };
        while (!isOver) await turn(apps[at]!, inside).catch(() => sleep(1));
      };
      const workers = apps.flatMap((_, at) => [...turns, ...turns].map((turn) => work(at, turn)));
      const each = (count: number): Promise<unknown> => {
        const from = [...served];
        return until(
          `each process is served ${count} times`,
          () => served.every((sum, at) => sum - from[at]! >= count),
          60_000,
        );
      };
      await each(10);
      await switchOver();
      await each(50);
      isOver = true;
      await Promise.all(workers);
      expect(tooMany).toBe(0);
      for (const { store } of apps) {
        await until('its inbox is heard', async () => (await store.health(1_000)).inbox === true);
      }
    });
  },
);

it('a switch is named as what ended the connection, and by a health check until the address leads to the primary', async () => {
  const settings = moduleSettings({ redis: address.url, durability: 'ignore' });
  const causes: (string | undefined)[] = [];
  const outages = { lost: (_at: string, cause?: string) => void causes.push(cause), back() {} };
  const store = new RedisLockStore(settings, systemClock, outages);
  const client = new LockClient(store, settings, systemClock);
  closing.push(client);
  await client.open();
  await demote();
  await until('health names it', async () => {
    const { servers } = await store.health(1_000);
    return servers[0]!.problem?.includes('READONLY');
  });
  await until('the outage is told', () => causes.length > 0);
  expect(causes[0]).toBe('READONLY');
  address.target = replica.port;
  await until('it can take locks', async () => (await store.health(1_000)).isUp);
});

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
  closing.push(client);
  await expect(client.locks.open()).rejects.toThrow('leads to several servers');
});

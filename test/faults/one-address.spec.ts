import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { moduleSettings, systemClock } from '../../lib/engine/options/index.js';
import { closeAll, closing } from '../support/closing.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { OneAddress } from './primary-behind-one-address.js';
import { KINDS, type Turn } from './turns-of-every-kind.js';

let world: OneAddress;
beforeEach(async () => {
  world = await OneAddress.start();
});
afterEach(closeAll);

describe.each(Object.keys(KINDS))(
  'after a switch of the primary behind one address, %s',
  (kind) => {
    it('has as many holders at a time as may be, and every process is served', async () => {
      const [turns, options = {}] = KINDS[kind]!;
      const apps = await Promise.all([1, 2, 3].map(() => world.application(options)));
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
      await world.switchOver();
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
  const settings = moduleSettings({ redis: world.address.url, durability: 'ignore' });
  const causes: (string | undefined)[] = [];
  const outages = { lost: (_at: string, cause?: string) => void causes.push(cause), back() {} };
  const store = new RedisLockStore(settings, systemClock, outages);
  const client = new LockClient(store, settings, systemClock);
  closing.push(() => client.close());
  await client.open();
  await world.demote();
  await until('health names it', async () => {
    const { servers } = await store.health(1_000);
    return servers[0]!.problem?.includes('READONLY');
  });
  await until('the outage is told', () => causes.length > 0);
  expect(causes[0]).toBe('READONLY');
  world.address.target = world.replica.port;
  await until('it can take locks', async () => (await store.health(1_000)).isUp);
});

it('an inbox at a replica is not heard, though the replica is sent what is published', async () => {
  const client = await world.application({});
  world.address.target = world.replica.port;
  for (const link of world.address.links) if (link.subscriber) link.reset();
  await until('it is noticed', async () => (await client.store.health(1_000)).inbox === false);
  world.address.target = world.primary.port;
  await until('it has moved', async () => (await client.store.health(1_000)).inbox === true);
});

it('a start where commands and subscriptions reach two servers ends with an error that says so', async () => {
  const first = [world.primary.port]; // the command connection; the inbox reaches the replica, each time
  Object.defineProperty(world.address, 'target', {
    get: () => first.shift() ?? world.replica.port,
  });
  const client = new LockProcess({ redis: world.address.url, connectTimeout: 1_000 });
  closing.push(() => client.close());
  await expect(client.locks.open()).rejects.toThrow('leads to several servers');
});

import { expect, it } from '@jest/globals';
import type { LockDialect } from '../../lib/index.js';
import { messageOf } from '../../lib/engine/locks/reply.js';
import { ASK_PAUSE, FIRST_LEASE } from '../../lib/engine/protocol/constants.js';
import { PATIENCE } from '../support/bounds.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { withSteps } from '../support/world.js';
import { useScene } from './scene.js';

const scene = useScene();

it.each<[LockDialect, string, (inbox: string) => [channel: string, text: string]]>([
  ['native', 'its inbox', (inbox) => [inbox, 'kept 0 lock:k']],
  ['redisson', 'the channel of the other service', () => ['redisson_lock__channel:{k}', '0']],
])(
  'a flood of messages makes who waits ask once in 5 ms at most: %s, to %s',
  async (dialect, _, forge) => {
    let asks = 0;
    const holder = await scene.process({ dialect });
    const process = await scene.process({ dialect }, (store) =>
      withSteps(store, {
        acquire: (request) => {
          asks += 1;
          return store.acquire(request);
        },
      }),
    );
    const lease = await holder.acquire('k', { ttl: 60_000 });
    const waits = later(process.acquire('k', { wait: PATIENCE }));
    await process.waiting('k');
    const hostile = await scene.publisher();
    const [channel, text] = forge(`lock:inbox:${process.store.processId}`);
    await until('it hears', async () => (await hostile.publish(channel, text)) > 0);
    const [before, from] = [asks, performance.now()];
    while (performance.now() - from < 500) {
      await Promise.all(Array.from({ length: 4 }, () => hostile.publish(channel, text)));
    }
    const most = (performance.now() - from) / (ASK_PAUSE - 1) + 1; // timers of Node.js count whole ms: 5 may be a little over 4
    expect(asks - before).toBeLessThanOrEqual(most);
    expect([lease.held, process.locks.load.waiting]).toEqual([true, 1]);
    expect(await lease.release()).toBe(true);
    expect((await waits).held).toBe(true);
  },
);

it('a flood that says an operator took a lock makes its holder ask once at a time, and takes nothing', async () => {
  let [asks, underWay, most] = [0, 0, 0];
  const process = await scene.process({}, (store) =>
    withSteps(store, {
      extend: (batch) => {
        asks += 1;
        most = Math.max(most, (underWay += 1));
        return store.extend(batch).finally(() => (underWay -= 1));
      },
    }),
  );
  const lease = await process.acquire('k', { ttl: 60_000 });
  const [host, id] = (await scene.observer.holder('k'))!.split('/');
  const hostile = await scene.publisher();
  const inbox = `lock:inbox:${process.store.processId}`;
  for (let nth = 0; nth < 200; nth += 1) {
    await Promise.all(
      Array.from({ length: 10 }, () => hostile.publish(inbox, `forced ${host}/${id}`)),
    );
  }
  expect((await process.store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
  expect([asks > 0, most]).toEqual([true, 1]);
  expect([lease.held, await lease.release()]).toEqual([true, true]);
});

it('who hears the inbox of a process that died costs those behind it a first lease at most', async () => {
  const [holder, dead, next] = [
    await scene.process(),
    await scene.process(),
    await scene.process(),
  ];
  const impostor = await scene.publisher();
  await impostor.subscribe(`lock:inbox:${dead.store.processId}`);
  const lease = await holder.acquire('k', { ttl: 60_000 });
  void later(dead.acquire('k', { ttl: 60_000, wait: PATIENCE })).catch(() => {});
  await scene.observer.queued('k', 1);
  const waits = later(next.acquire('k', { wait: PATIENCE }));
  await scene.observer.queued('k', 2);
  await dead.store.close(); // as a process that dies
  expect(await lease.release()).toBe(true);
  const left = await scene.observer.redis.pttl('lock:k');
  expect(left).toBeLessThanOrEqual(FIRST_LEASE);
  expect((await waits).held).toBe(true);
});

it('a message that is longer than what Redis keeps for a subscriber costs the inbox its connection, and no lock', async () => {
  const [holder, process] = [await scene.process(), await scene.process()];
  const lease = await holder.acquire('k', { ttl: 60_000 });
  const waits = later(process.acquire('k', { wait: PATIENCE }));
  await process.waiting('k');
  const hostile = await scene.publisher();
  const inbox = `lock:inbox:${process.store.processId}`;
  const clients = async (): Promise<string> =>
    String(await scene.observer.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  const ids = async (): Promise<string[]> =>
    [...(await clients()).matchAll(/^id=(\d+)/gm)].map(([, id]) => id!);
  const before = await ids();
  await hostile.publish(inbox, 'x'.repeat(40_000_000));
  await until('another connection hears the inbox', async () => {
    const now = await ids();
    return now.length === before.length && now.some((id) => !before.includes(id));
  });
  expect((await process.store.health(PATIENCE)).inbox).toBe(true);
  expect(await lease.release()).toBe(true);
  expect((await waits).held).toBe(true);
});

it('a message that is longer than any script writes is not read', () => {
  const holders = (count: number): string =>
    `forced ${Array.from({ length: count }, () => `host.1.${'r'.repeat(11)}/${'i'.repeat(22)}_${'l'.repeat(256)}`).join(' ')}`;
  expect(messageOf(holders(250))).toMatchObject({ kind: 'forced' });
  expect(messageOf(holders(100_000))).toBeUndefined();
});

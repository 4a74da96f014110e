import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { LockService } from '../../lib/nest/services/lock.service.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { BEFORE_START_TIMEOUT } from '../support/bounds.js';
import { closeAll, closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';
import { EverythingSaid, PASSWORD, secrets, USER, WRONG } from './everything-said.js';

let redis: RedisProcess;
let observer: Observer;
let proxy: FaultProxy;
let clock: StallingClock;
let all: EverythingSaid;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(async () => {
  all = new EverythingSaid();
  clock = new StallingClock(systemClock);
  await observer.redis.flushall();
  await addUser();
  proxy = await FaultProxy.before(redis.port);
});
afterEach(async () => {
  all.endListening();
  await closeAll();
  await observer.redis.call('ACL', 'SETUSER', 'default', 'on', 'nopass');
  await proxy.close();
});
afterAll(async () => {
  observer.close();
  await redis.stop();
});

it.each([
  ['a wrong password', (): LockProcess => client(WRONG)],
  ['no password', (): LockProcess => closedLater(new LockProcess({ redis: proxy.url }))],
])('%s at the start is told without secrets, at once', async (_, make) => {
  await observer.redis.call('ACL', 'SETUSER', 'default', 'off');
  const late = make();
  const started = performance.now();
  const error = await errorOf(late.locks.open());
  expect(error).toBeInstanceOf(LockStoreError);
  expect(error).toMatchObject({ retryable: false });
  expect(performance.now() - started).toBeLessThan(BEFORE_START_TIMEOUT);
  await errorOf(late.acquire('k', { wait: 0 }));
  await late.close();
  expectNothingTold();
});

it('a password that is changed later is told without secrets', async () => {
  const late = client();
  await late.locks.open();
  const lease = await late.acquire('k');
  await noteHolder('k');
  const waiting = late.acquire('k', { wait: 3_000 });
  await observer.queued('k', 1);
  await observer.redis.call('ACL', 'SETUSER', USER, 'resetpass', `>${WRONG}`);
  await observer.redis.call('CLIENT', 'KILL', 'USER', USER);
  await errorOf(late.acquire('other'));
  await errorOf(lease.extend());
  clock.pass(3_000);
  await errorOf(waiting);
  await until('the lease is lost', () => lease.signal.aborted);
  all.say(lease.signal.reason);
  all.say(lease);
  await late.close();
  expectNothingTold();
});

it.each(['blackHole', 'refuse'] as const)(
  'an outage is told without secrets (%s)',
  async (trouble) => {
    const late = client();
    await late.locks.open();
    const lease = await late.acquire('k');
    await noteHolder('k');
    await proxy[trouble]();
    await errorOf(late.acquire('other', { wait: 0 }));
    await errorOf(lease.extend());
    all.say(lease);
    await late.close();
    await errorOf(late.acquire('k'));
    expectNothingTold();
  },
);

it('a start without Redis is told without secrets', async () => {
  await proxy.refuse();
  const late = client();
  let opened: Error | undefined;
  void errorOf(late.locks.open()).then((error) => (opened = error));
  const refused = (): boolean => late.store.describe().found.includes('ECONNREFUSED');
  await until('it is given up', () => {
    if (!opened && refused()) clock.pass(50);
    return opened;
  });
  expect(opened!.message).toContain('ECONNREFUSED');
  await late.close();
  expectNothingTold();
});

it('errors in which Redis itself repeats what it was sent are told without secrets', async () => {
  const late = client();
  const lease = await late.acquire('k');
  await noteHolder('k');
  const holder = (await observer.holder('k'))!;
  for (const answer of [
    `-ERR unknown command, with args beginning with: '${holder}' '${PASSWORD}'`,
    `-NOPERM User ${USER} has no permissions to run the 'evalsha' command`,
    `-${PASSWORD}`,
  ] as const) {
    void proxy.once((words) => words[0]!.startsWith('eval'), answer);
    await errorOf(lease.extend());
  }
  await lease.release();
  await late.close();
  expectNothingTold();
});

it('a lease that is handed over shows no holder id, nor does the text', async () => {
  const late = client();
  const service = new LockService(late.locks, late.settings);
  const lease = await service.acquire('k');
  await noteHolder('k');
  const text = await lease.handOver();
  await noteHolder('k');
  for (const value of [lease, text, Buffer.from(text, 'base64url').toString()]) all.say(value);
  const restored = await service.restore(text);
  await noteHolder('k');
  expect(secrets.has(text)).toBe(false);
  secrets.add(text);
  all.said = all.said.map((line) => line.replace(text, ''));
  await errorOf(service.restore(text));
  await errorOf(service.restore(text.slice(1)));
  for (const value of [restored, service, await service.inspect('k')]) all.say(value);
  await restored.release();
  await late.close();
  expectNothingTold();
});

it('a lease, a service and what it sees of a lock show no secrets', async () => {
  const late = client();
  const service = new LockService(late.locks, late.settings);
  const lease = await service.acquire('k');
  await noteHolder('k');
  const waiting = service.acquire('k');
  await observer.queued('k', 1);
  for (const place of await observer.redis.zrange('{lock:k}:queue', '0', '-1')) {
    secrets.add(place.split('/')[1]!);
  }
  for (const value of [lease, service, await service.inspect('k'), lease.toJSON()]) all.say(value);
  await lease.release();
  await (await waiting).release();
  all.say(lease);
  await late.close();
  expectNothingTold();
});

async function addUser(): Promise<void> {
  const rules = ['reset', 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];
  await observer.redis.call('ACL', 'SETUSER', USER, ...rules);
}

function client(password = PASSWORD): LockProcess {
  const redisUrl = `redis://${USER}:${password}@127.0.0.1:${proxy.port}/0`;
  const options = { redis: redisUrl, commandTimeout: 1_000, ttl: 3_000 };
  return closedLater(new LockProcess(options, undefined, clock));
}

/** One that is closed after the test. */
function closedLater(made: LockProcess): LockProcess {
  closing.push(() => made.close());
  return made;
}

async function errorOf(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  all.say(error);
  return error as Error;
}

/** Also the id under which the lock is held is a key to it. */
async function noteHolder(key: string): Promise<void> {
  const holder = (await observer.holder(key))!;
  secrets.add(holder).add(holder.split('/')[1]!);
}

function expectNothingTold(): void {
  all.say(all.told);
  expect(all.said.length).toBeGreaterThan(0);
  const text = all.said.join('\n');
  for (const secret of secrets) expect(text.includes(secret) ? secret : '').toBe('');
}

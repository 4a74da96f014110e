import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { inspect } from 'node:util';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { LockService } from '../../lib/nest/services/lock.service.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { BEFORE_START_TIMEOUT } from '../support/bounds.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { Heard } from '../support/heard.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';

const USER = 'pl4nted-user';
const PASSWORD = 'pl4nted-password';
const WRONG = 'wr0ng-password';

let redis: RedisProcess;
let observer: Observer;
let proxy: FaultProxy;
let clock: StallingClock;
/** All that the channels told. */
let heard: Heard;
/** All that left the library as text. */
let said: string[];
const clients: LockProcess[] = [];
const secrets = new Set([USER, PASSWORD, WRONG]);
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(async () => {
  said = [];
  heard = new Heard();
  clock = new StallingClock(systemClock);
  await observer.redis.flushall();
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(console, method).mockImplementation((...words) => void said.push(words.join(' ')));
  }
  for (const stream of [process.stdout, process.stderr]) {
    jest.spyOn(stream, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  }
  await observer.redis.call(
    'ACL',
    'SETUSER',
    USER,
    'reset',
    'on',
    `>${PASSWORD}`,
    '~*',
    '&*',
    '+@all',
  );
  proxy = await FaultProxy.before(redis.port);
});
afterEach(async () => {
  heard[Symbol.dispose]();
  jest.restoreAllMocks();
  await Promise.all(clients.splice(0).map((one) => one.close()));
  await observer.redis.call('ACL', 'SETUSER', 'default', 'on', 'nopass');
  await proxy.close();
});
afterAll(async () => {
  observer.close();
  await redis.stop();
});

/** One that is closed after the test. */
function closing(client: LockProcess): LockProcess {
  clients.push(client);
  return client;
}

function client(password = PASSWORD): LockProcess {
  const redisUrl = `redis://${USER}:${password}@127.0.0.1:${proxy.port}/0`;
  const options = { redis: redisUrl, commandTimeout: 1_000, ttl: 3_000 };
  return closing(new LockProcess(options, undefined, clock));
}

/** Everything one can write of a value into a log. */
function say(value: unknown): void {
  said.push(
    String(value),
    JSON.stringify(value) ?? '',
    inspect(value, { depth: 10, showHidden: true, getters: true }),
    value instanceof Error ? `${value.stack} ${inspect(value.cause)}` : '',
  );
}

async function errorOf(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  say(error);
  return error as Error;
}

/** Also the id under which the lock is held is a key to it. */
async function noteHolder(key: string): Promise<void> {
  const holder = (await observer.holder(key))!;
  secrets.add(holder).add(holder.split('/')[1]!);
}

function expectNothingTold(): void {
  say([heard.calls, heard.holds, heard.told]);
  expect(said.length).toBeGreaterThan(0);
  const text = said.join('\n');
  for (const secret of secrets) expect(text.includes(secret) ? secret : '').toBe('');
}

it.each([
  ['a wrong password', (): LockProcess => client(WRONG)],
  ['no password', (): LockProcess => closing(new LockProcess({ redis: proxy.url }))],
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
  say(lease.signal.reason);
  say(lease);
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
    say(lease);
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
  for (const value of [lease, text, Buffer.from(text, 'base64url').toString()]) say(value);
  const restored = await service.restore(text);
  await noteHolder('k');
  expect(secrets.has(text)).toBe(false);
  secrets.add(text);
  said = said.map((line) => line.replace(text, ''));
  await errorOf(service.restore(text));
  await errorOf(service.restore(text.slice(1)));
  for (const value of [restored, service, await service.inspect('k')]) say(value);
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
  for (const value of [lease, service, await service.inspect('k'), lease.toJSON()]) say(value);
  await lease.release();
  await (await waiting).release();
  say(lease);
  await late.close();
  expectNothingTold();
});

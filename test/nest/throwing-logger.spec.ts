import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { LockService } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { controlOf } from '../support/control.js';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Work } from './work-that-goes-on.js';

/** What the logger was given before it threw. */
const lines: string[] = [];
let bench: NestBench;
let app: INestApplication;
let locks: LockService;
let control: Redis;

beforeAll(async () => {
  throwFromTheLogger();
  bench = await NestBench.start();
  app = await bench.app({ providers: [Work] }, { commandTimeout: '500ms' });
  locks = app.get(LockService);
  control = controlOf(bench.redis.url);
});
afterAll(async () => {
  control.disconnect();
  await bench.stop();
  jest.restoreAllMocks();
});
beforeEach(() => void lines.splice(1));

it('the application starts, and has locks', async () => {
  expect(said(/^Redis .*; keys "lock:…"/)).toBe(true);
  expect(await locks.withLock('a', () => 'done')).toBe('done');
});

it('a call that is skipped is no error', async () => {
  const lease = await locks.acquire('busy');
  expect(await app.get(Work).skipped()).toBeUndefined();
  await lease.release();
  expect(said(/Lock "busy" is busy/)).toBe(true);
});

it('locks in opposite orders are taken, where that is warned of', async () => {
  const inMemory = memoryLockService();
  await inMemory.withLock('a', () => inMemory.withLock('b', () => {}));
  await inMemory.withLock('b', () => inMemory.withLock('a', () => {}));
  expect(said(/Lock "a" is wanted inside lock "b"/)).toBe(true);
  await inMemory[Symbol.asyncDispose]();
});

it('a lease whose renewal was refused once is renewed as soon as it can be', async () => {
  const lease = await locks.acquire('renewed', { ttl: '6s' });
  const end = lease.expiresAt;
  await control.call('acl', 'setuser', 'default', '-evalsha');
  await until('a renewal is refused', () => said(/A lease could not be renewed/));
  await control.call('acl', 'setuser', 'default', '+evalsha');
  await until('it is renewed', () => lease.expiresAt > end + 1_000);
  await lease.release();
});

it('a connection that is lost is made anew; the locks go on, and so does the election', async () => {
  const work = app.get(Work);
  const leads = async (): Promise<boolean> => {
    const before = work.led;
    await work.lead().catch(() => {});
    return work.led > before;
  };
  await until('it leads', leads);
  for (let outage = 0; outage < 2; outage += 1) {
    await bench.redis.kill();
    await until('a call goes on without Redis', () => work.anyway());
    await bench.redis.run();
    await until('Redis can be used', () => locks.withLock('a', () => true).catch(() => false));
  }
  expect(said(/is not connected any more/)).toBe(true);
  await until('it leads again', leads);
});

it('the application shuts down, and gives back what is held', async () => {
  await locks.acquire('held');
  await app.close();
  expect(said(/The application shuts down.*"held"/)).toBe(true);
  expect(await control.exists('lock:held')).toBe(0);
});

function throwFromTheLogger(): void {
  for (const level of ['log', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation(function (this: Logger, line: string) {
      if ((this as unknown as { context: string }).context !== 'RedisLock') return; // Nest's own
      lines.push(line);
      throw new Error('The logger cannot write.');
    });
  }
}

function said(text: RegExp): boolean {
  return lines.some((line) => text.test(line));
}

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Redis } from 'ioredis';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AggregatorRegistry, Counter, Histogram, Registry } from 'prom-client';
import request from 'supertest';
import { lockChannels, LockOptionsError, LockService } from 'nest-redis-lock';
import { registerLockMetrics } from 'nest-redis-lock/prometheus';
import { ManualClock, MemoryServer, memoryLockService } from 'nest-redis-lock/testing';
import { closeAll, closing } from '../support/closing.js';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { scraped, ScrapedAccounts } from './scraped-accounts.js';

afterEach(closeAll);

describe('an application that is scraped', () => {
  let bench: NestBench;
  let app: INestApplication;
  let stop: () => void;

  beforeAll(async () => {
    stop = registerLockMetrics(scraped);
    bench = await NestBench.start();
    app = await bench.app({ controllers: [ScrapedAccounts] });
  });

  afterAll(async () => {
    stop();
    await bench.stop();
  });

  it('tells how its locks are used, and no key, token or holder', async () => {
    const locks = app.get(LockService);
    const http = app.getHttpServer();
    await request(http).get('/accounts/4711').expect(200);
    const lease = await locks.acquire('account:4711', { name: 'account:<id>' });
    await request(http).get('/accounts/4711').expect(409);
    const client = new Redis(bench.redis.url);
    const [holder = '', id] = (await client.get('lock:account:4711'))!.split('/');
    client.disconnect();
    expect(holder).toContain(`.${process.pid}.`);
    const L = 'lock_name="account:<id>",lock_mode="exclusive",lock_topology="redis"';
    expect(await scrape()).toMatchObject({
      [`lock_acquire_attempts_total{${L}}`]: 2,
      [`lock_acquire_attempts_total{${L},error_type="LOCK_NOT_ACQUIRED"}`]: 1,
      [`lock_wait_duration_seconds_count{${L}}`]: 2,
      [`lock_wait_duration_seconds_bucket{le="300",${L}}`]: 2,
      [`lock_hold_duration_seconds_count{${L}}`]: 1,
      [`lock_held{${L}}`]: 1,
      [`lock_waiting{${L}}`]: 0,
      [`lock_lost_total{${L}}`]: 0,
      [`lock_renewal_failures_total{${L}}`]: 0,
    });
    await locks.forceRelease('account:4711');
    await until('the holder is told', () => lease.signal.aborted);
    const after = await scrape();
    expect(after).toMatchObject({
      [`lock_lost_total{${L}}`]: 1,
      [`lock_held{${L}}`]: 0,
      [`lock_hold_duration_seconds_count{${L},error_type="forced"}`]: 1,
    });
    const told = JSON.stringify(after);
    for (const secret of ['4711', String(lease.fencingToken), holder, id]) {
      expect(told).not.toContain(secret);
    }
  });

  async function scrape(): Promise<Record<string, number>> {
    const { text } = await request(app.getHttpServer())
      .get('/metrics')
      .expect(200)
      .expect('content-type', /^text\/plain; version=0\.0\.4/);
    return samples(text);
  }
});

describe('a registration', () => {
  it('counts in time what waits and what is held', async () => {
    const registry = new Registry();
    closing.push(registerLockMetrics(registry, { buckets: [1, 2] }));
    const { clock, locks } = inMemory();
    const lease = await locks.acquire('a', { name: 'a' });
    const waiting = locks.acquire('a', { name: 'a' });
    await nextTurn();
    const L = 'lock_name="a",lock_mode="exclusive",lock_topology="memory"';
    expect(samples(await registry.metrics())).toMatchObject({
      [`lock_held{${L}}`]: 1,
      [`lock_waiting{${L}}`]: 1,
    });
    await clock.advance(1_500);
    await lease.release();
    await (await waiting).release();
    expect(samples(await registry.metrics())).toMatchObject({
      [`lock_wait_duration_seconds_bucket{le="1",${L}}`]: 1,
      [`lock_wait_duration_seconds_bucket{le="2",${L}}`]: 2,
      [`lock_wait_duration_seconds_sum{${L}}`]: 1.5,
      [`lock_hold_duration_seconds_sum{${L}}`]: 1.5,
      [`lock_held{${L}}`]: 0,
      [`lock_waiting{${L}}`]: 0,
    });
  });

  it('has durations from a millisecond to five minutes, in steps for dashboards', async () => {
    const registry = new Registry();
    closing.push(registerLockMetrics(registry));
    await inMemory().locks.withLock('a', () => {});
    const text = await registry.metrics();
    const bounds = [...text.matchAll(/lock_wait_duration_seconds_bucket\{le="([^"]+)"/g)];
    expect(bounds.map(([, bound]) => bound).join(' ')).toBe(
      '0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 300 +Inf',
    );
  });

  it('counts each renewal that failed, once for however many scrapes', async () => {
    const registry = new Registry();
    closing.push(registerLockMetrics(registry));
    const { locks } = inMemory();
    const lease = await locks.acquire('a', { name: 'a' });
    const failed = { lock: 'a', key: 'a', mode: 'exclusive', topology: 'memory', ttl: 1, left: 1 };
    for (let nth = 0; nth < 2; nth += 1)
      lockChannels.renewalFailed.publish({ ...failed, name: 'a' });
    await lease.release();
    const L = 'lock_name="a",lock_mode="exclusive",lock_topology="memory"';
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      expect(samples(await registry.metrics())).toMatchObject({
        [`lock_acquire_attempts_total{${L}}`]: 1,
        [`lock_renewal_failures_total{${L}}`]: 2,
      });
    }
  });

  it('says as much in the format of OpenMetrics', async () => {
    const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const stop = registerLockMetrics(registry);
    closing.push(stop);
    const { locks } = inMemory();
    await locks.withLock('a', async () => 1);
    expect(Object.keys(samples(await registry.metrics())).join()).toContain(
      'lock_acquire_attempts_total{lock_name="(unnamed)"',
    );
    stop();
    expect(await registry.metrics()).toBe('\n# EOF\n');
  });

  it('is taken out again, and may then be made anew', async () => {
    const registry = new Registry();
    const other = new Counter({ name: 'other', help: 'of the application', registers: [registry] });
    for (let turn = 0; turn < 2; turn += 1) {
      const stop = registerLockMetrics(registry);
      expect(registry.getMetricsAsArray().length).toBe(8);
      stop();
      stop();
    }
    expect(registry.getMetricsAsArray()).toEqual([other]);
    expect(lockChannels.acquire.hasSubscribers).toBe(false);
    expect(lockChannels.hold.hasSubscribers).toBe(false);
  });

  it('is refused a second time, in one sentence that says what to do, and leaves the first as it is', async () => {
    const registry = new Registry();
    closing.push(registerLockMetrics(registry));
    expect(() => registerLockMetrics(registry)).toThrow(
      new LockOptionsError(
        'The registry has a metric "lock_wait_duration_seconds" already: call registerLockMetrics once, or call what its first call returned before.',
      ),
    );
    const { locks } = inMemory();
    await locks.withLock('a', async () => 1);
    expect(await registry.metrics()).toMatch(/^lock_acquire_attempts_total\{.*\} 1$/m);
  });

  it.each([
    [undefined, {}, /^registerLockMetrics takes a registry of prom-client:/],
    [new Registry(), { buckets: [] }, /^Option "buckets" takes seconds above 0/],
    [new Registry(), { buckets: [1, 1] }, /^Option "buckets"/],
    [new Registry(), { buckets: [0, 1] }, /^Option "buckets"/],
    [new Registry(), { buckets: 5 }, /^Option "buckets"/],
    [
      new Registry(),
      { bucket: [1] },
      /^registerLockMetrics has no option "bucket", only "buckets"/,
    ],
  ])('is refused where its operands are wrong: %#', (registry, options, message) => {
    const register = (): unknown => registerLockMetrics(registry as Registry, options as object);
    expect(register).toThrow(message);
  });

  it('answers each question to the registry as a histogram of prom-client would', async () => {
    const buckets = [1, 2];
    const registry = new Registry();
    closing.push(registerLockMetrics(registry, { buckets }));
    const { clock, locks } = inMemory();
    for (const held of [500, 1_000, 1_500, 2_500]) {
      const lease = await locks.acquire('a', { name: 'a' });
      await clock.advance(held);
      await lease.release();
    }
    const name = 'lock_hold_duration_seconds';
    const ours = registry.getSingleMetric(name) as Histogram;
    const help = 'How long locks were held.';
    const labels = { lock_name: 'a', lock_mode: 'exclusive', lock_topology: 'memory' };
    const labelNames = [...Object.keys(labels), 'error_type'];
    const registries = { ours: new Registry(), theirs: new Registry() };
    const theirs = new Histogram({
      name,
      help,
      labelNames,
      buckets,
      registers: [registries.theirs],
    });
    for (const seconds of [0.5, 1, 1.5, 2.5]) theirs.observe(labels, seconds);
    registries.ours.registerMetric(ours);
    const all = Object.values(registries);
    for (const each of all) each.setDefaultLabels({ pod: '7' });
    const same = async (ask: (registry: Registry) => Promise<string>): Promise<string> => {
      const [text, expected] = await Promise.all(all.map(async (each) => sorted(await ask(each))));
      expect(text).toBe(expected);
      return text!;
    };
    const scrape = (each: Registry): Promise<string> => each.metrics();
    expect(await same(scrape)).toContain('} 5.5');
    await same((each) => each.getSingleMetricAsString(name));
    const workers = await same(async (each) => {
      const json = await each.getMetricsAsJSON();
      return AggregatorRegistry.aggregate([json, structuredClone(json)] as never).metrics();
    });
    expect(workers).toContain('} 11');
    expect(ours).toBeInstanceOf(Histogram);
    for (const each of all) each.resetMetrics();
    expect(await same(scrape)).not.toContain('} ');
    await locks.withLock('a', { name: 'a' }, async () => 1);
    theirs.observe(labels, 0);
    expect(await same(scrape)).toContain('} 1');
    for (const each of all) each.clear();
    expect(await registries.ours.metrics()).toBe('\n');
  });

  it('asks nothing of prom-client while locks are used', async () => {
    const registry = new Registry();
    closing.push(registerLockMetrics(registry));
    const asked: string[] = [];
    for (const { name } of registry.getMetricsAsArray()) {
      const tell = (): void => void asked.push(name);
      const silent = { observe: tell, inc: tell, dec: tell, set: tell, labels: tell };
      Object.assign(registry.getSingleMetric(name)!, silent);
    }
    const { locks } = inMemory();
    await locks.withLock('a', async () => 1);
    expect(asked).toEqual([]);
  });

  it('breaks no lock where somebody publishes what it cannot count, and warns once', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    closing.push(() => warn.mockRestore());
    const registry = new Registry();
    closing.push(registerLockMetrics(registry));
    for (let turn = 0; turn < 2; turn += 1) lockChannels.acquire.start.publish(undefined);
    const { locks } = inMemory();
    expect(await locks.withLock('a', async () => 1)).toBe(1);
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/^The metrics of locks are incomplete: Cannot destructure/),
        { code: 'LOCK_METRICS' },
      ],
    ]);
    expect(await registry.metrics()).toMatch(/^lock_acquire_attempts_total\{.*\} 1$/m);
  });
});

/** What a scrape says, by the metric with its labels. */
function samples(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  );
}

/** With the labels of each sample in one order: it means nothing. */
function sorted(text: string): string {
  return text.replaceAll(
    /\{(.*)\}/g,
    (_, labels: string) => `{${labels.split(',').sort().join()}}`,
  );
}

function inMemory() {
  const clock = new ManualClock();
  return { clock, locks: memoryLockService({ clock, server: new MemoryServer(clock) }) };
}

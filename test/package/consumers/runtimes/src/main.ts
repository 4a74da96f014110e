import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { Redis } from 'ioredis';
import { isLockError, lockChannels, LockService, lockServiceToken } from 'nest-redis-lock';
import { instrumentLocks } from 'nest-redis-lock/opentelemetry';
import { registerLockMetrics } from 'nest-redis-lock/prometheus';
import { memoryLockService } from 'nest-redis-lock/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { AppModule, Bank } from './bank.ts';

async function until(what: string, holds: () => unknown): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await sleep(5)) {
    if (Date.now() > end) throw new Error(`Never: ${what}`);
  }
}

/** So many wait for a lock. */
function waiting(locks: LockService, key: string, count: number): Promise<void> {
  return until(`${count} wait`, async () => (await locks.inspect(key)).waiting === count);
}

/** Calls, a route, and what code under a lock knows of it. */
async function calls(app: INestApplication, locks: LockService): Promise<object> {
  const bank = app.get(Bank);
  const busy = await locks
    .withLock('busy', () => locks.acquire('busy', { wait: 0, reentrant: false }))
    .catch((error: unknown) => isLockError(error) && error.code);
  const mail = locks.semaphore('mail', { permits: 2 });
  return {
    route: await (await fetch(`${await app.getUrl()}/accounts/7`)).text(),
    withdrawn: await bank.withdraw('42', 10),
    nested: await bank.nested(),
    outside: bank.key() ?? 'no lock',
    busy,
    permits: await Promise.all([1, 2, 3].map((n) => mail.withPermit(async () => n))),
    both: await locks.withLock(['b', 'a'], async ({ keys }) => keys),
    memory: await memoryLockService().withLock('a', async ({ key }) => key),
  };
}

/** A lock that is waited for, one that nobody wants any more, one that is taken away, and one that is renewed. */
async function between(locks: LockService, others: LockService): Promise<object> {
  const lease = await locks.acquire('passed');
  const asked = others.acquire('passed');
  await waiting(locks, 'passed', 1);
  await lease.release();
  const next = await asked;
  const giveUp = new AbortController();
  const given = locks.acquire('passed', { signal: giveUp.signal }).catch(({ name }) => name);
  await waiting(others, 'passed', 1);
  giveUp.abort();
  const aborted = await given;
  await waiting(others, 'passed', 0);
  await locks.forceRelease('passed');
  await until('its loss is told', () => next.signal.aborted);
  const long = await locks.acquire('long', { ttl: '6s' });
  const { expiresAt } = long;
  await until('it is renewed', () => long.expiresAt > expiresAt);
  const renewed = long.held && (await long.release());
  const later = next.fencingToken > lease.fencingToken;
  return { later, aborted, lost: next.signal.reason.reason, renewed };
}

/** All connections are cut while one holds a lock and another waits for it. */
async function reconnects(locks: LockService, others: LockService): Promise<object> {
  const lease = await locks.acquire('cut', { ttl: '60s' });
  const asked = others.acquire('cut', { ttl: '60s', wait: '60s' });
  await waiting(locks, 'cut', 1);
  const admin = new Redis(process.env.REDIS_URL!);
  const kill = (type: string) => admin.call('CLIENT', 'KILL', 'TYPE', type);
  const cut = [Number(await kill('pubsub')) > 0, Number(await kill('normal')) > 0];
  admin.disconnect();
  const answers = () => locks.inspect('cut').then(Boolean, () => false);
  await until('Redis answers again', answers);
  return { cut, released: await lease.release(), next: await (await asked).release() };
}

/** The page with its events, and the health, as Terminus shows it and after the event loop was late. */
async function pages(url: string, locks: LockService): Promise<object> {
  const { status, info } = await (await fetch(`${url}/health`)).json();
  await locks.health();
  for (const end = performance.now() + 500; performance.now() < end;);
  const { eventLoop } = await locks.health();
  const page = await fetch(`${url}/locks`);
  const events = await fetch(`${url}/locks/events`);
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  return locks.withLock('shown', async () => {
    for (let said = ''; !said.includes('shown');) said += (await reader.read()).value;
    await reader.cancel();
    return {
      health: [status !== 'error', Object.keys(info)],
      late: eventLoop.lateness! > 100,
      page: [page.status, /^<!doctype html>/i.test(await page.text())],
      events: [events.status, events.headers.get('content-type')],
    };
  });
}

/** Starts, locks in every way, says what came of it in one line of JSON, and ends by itself. */
async function main(): Promise<void> {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  const tracer = provider.getTracer('application');
  const stopTracing = instrumentLocks();
  const registry = new Registry();
  const stopCounting = registerLockMetrics(registry);
  let [began, ended] = [0, 0];
  const holds = lockChannels.hold as unknown as { subscribe(heard: object): void };
  holds.subscribe({ start: () => (began += 1), asyncEnd: () => (ended += 1) });

  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const [locks, others] = [app.get(LockService), app.get<LockService>(lockServiceToken('other'))];
  const heard = new Set<string>();
  locks.events.on('acquired', ({ name }) => heard.add(name));
  await tracer.startActiveSpan('request', async (request) => {
    await locks.withLock('traced', () =>
      tracer.startActiveSpan('work', async (span) => span.end()),
    );
    request.end();
  });
  const spans = exporter.getFinishedSpans();
  const parentOf = (name: string) => {
    const id = spans.find((span) => span.name === name)?.parentSpanContext?.spanId;
    return spans.find((span) => span.spanContext().spanId === id)?.name;
  };
  const facts = {
    calls: await calls(app, locks),
    between: await between(locks, others),
    reconnects: await reconnects(locks, others),
    pages: await pages(await app.getUrl(), locks),
    parents: Object.fromEntries(['lock.hold', 'work'].map((name) => [name, parentOf(name)])),
    heard: heard.has('account:<id>'),
    counted: /^lock_acquire_attempts_total\{.*"account:<id>".*\} 2$/m.test(
      await registry.metrics(),
    ),
  };
  await app.close();
  stopTracing();
  stopCounting();
  console.log(JSON.stringify({ ...facts, ended: began > 10 && began === ended }));
}

void main();

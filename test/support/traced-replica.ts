import { context, propagation, trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { LockInstrumentation } from '../../lib/watch/opentelemetry/index.js';

export interface TracedReplicaOptions {
  readonly redis: string;
  readonly port: number;
}

/** A span as it goes through a pipe. */
export interface ToldSpan {
  readonly name: string;
  readonly id: string;
  readonly trace: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly attributes: Record<string, unknown>;
  /** In s. */
  readonly seconds: number;
}

/** A histogram as it goes through a pipe: of each name of a lock the sum of what was recorded, in s, and how often. */
export type ToldDurations = Record<string, Record<string, { sum: number; count: number }>>;

/**
 * A service of an application that is traced as real ones are: the SDK first, then what it traces. `GET /lock?key=…&then=<url>`
 * takes the lock and asks the next service under it; `GET /spans` and `GET /durations` say what was exported, `GET /waiting` how many
 * calls wait.
 */
export async function start({ redis, port }: TracedReplicaOptions): Promise<void> {
  const spans = new InMemorySpanExporter();
  const tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  tracers.register();
  const durations = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: durations,
    exportIntervalMillis: 3_600_000,
  });
  registerInstrumentations({
    tracerProvider: tracers,
    meterProvider: new MeterProvider({ readers: [reader] }),
    instrumentations: [new IORedisInstrumentation(), new LockInstrumentation()],
  });
  createRequire(import.meta.url)('ioredis'); // is patched where it is required
  const { Locked, LockService, RedisLockModule } = await import('../../lib/index.js');
  const { Injectable, Module } = await import('@nestjs/common');
  const { NestFactory } = await import('@nestjs/core');

  @Injectable()
  class Accounts {
    @Locked('account:<id>')
    async work(id: string, next: string | undefined): Promise<void> {
      if (next === undefined) return;
      const headers = {};
      propagation.inject(context.active(), headers);
      await (await fetch(next, { headers })).text();
    }
  }

  @Module({ imports: [RedisLockModule.forRoot({ redis })], providers: [Accounts] })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const accounts = app.get(Accounts);

  function work(url: URL, carrier: object): Promise<void> {
    const parent = propagation.extract(context.active(), carrier);
    const query = url.searchParams;
    return trace.getTracer('http').startActiveSpan('GET /lock', {}, parent, async (span) => {
      await accounts.work(query.get('id')!, query.get('then') ?? undefined);
      span.end();
    });
  }

  async function answer(url: URL, carrier: object, response: ServerResponse): Promise<void> {
    if (url.pathname === '/lock') {
      await work(url, carrier);
      response.end('done');
    } else if (url.pathname === '/spans') {
      response.end(JSON.stringify(spans.getFinishedSpans().map(told)));
    } else if (url.pathname === '/waiting') {
      response.end(String((await app.get(LockService).health()).waiting));
    } else {
      await reader.forceFlush();
      response.end(JSON.stringify(toldDurations(durations)));
    }
  }

  const server = createServer((request, response) => {
    void answer(new URL(request.url!, 'http://localhost'), request.headers, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

function told(span: ReadableSpan): ToldSpan {
  const { spanId: id, traceId } = span.spanContext();
  return {
    name: span.name,
    id,
    trace: traceId,
    parent: span.parentSpanContext?.spanId,
    links: span.links.map(({ context: linked }) => linked.spanId),
    attributes: span.attributes,
    seconds: span.duration[0] + span.duration[1] / 1e9,
  };
}

function toldDurations(exporter: InMemoryMetricExporter): ToldDurations {
  const last = exporter.getMetrics().at(-1)!;
  const found: ToldDurations = {};
  for (const { descriptor, dataPoints } of last.scopeMetrics.flatMap(({ metrics }) => metrics)) {
    if (!descriptor.name.endsWith('.duration')) continue;
    for (const { attributes, value } of dataPoints) {
      const { sum, count } = value as { sum: number; count: number };
      (found[descriptor.name] ??= {})[String(attributes['lock.name'])] = { sum, count };
    }
  }
  return found;
}

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { context, diag, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type HoldTrace, lockChannels } from 'nest-redis-lock';
import { LockInstrumentation, instrumentLocks } from 'nest-redis-lock/opentelemetry';
import { ManualClock, MemoryServer, memoryLockService } from 'nest-redis-lock/testing';

let spans: InMemorySpanExporter;
let tracerProvider: NodeTracerProvider;
let points: InMemoryMetricExporter;
let reader: PeriodicExportingMetricReader;
let meterProvider: MeterProvider;
let undo: (() => void)[];

beforeEach(() => {
  undo = [];
  spans = new InMemorySpanExporter();
  tracerProvider = tracers(spans);
  tracerProvider.register();
  meterProvider = meters();
});

afterEach(async () => {
  for (const each of undo.reverse()) each();
  for (const api of [trace, context, metrics, diag]) api.disable();
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
});

const A = 'a exclusive memory';

describe('a call for a lock and a hold', () => {
  it('are spans in the span of the caller, as long as the metrics say', async () => {
    instrument();
    const { clock, locks } = service();
    const first = await locks.acquire('a:1', { name: 'a' });
    const waiting = locks.acquire('a:1', { name: 'a' });
    await nextTurn();
    expect(await measured()).toMatchObject({
      'lock.held': { [A]: 1 },
      'lock.waiting': { [A]: 1 },
    });
    await clock.advance(1_500);
    await first.release();
    const second = await waiting;
    await clock.advance(250);
    await second.release();
    expect(ended('lock.acquire').map(milliseconds)).toEqual([0, 1_500]);
    expect(ended('lock.acquire').map(({ attributes }) => attributes['lock.queued'])).toEqual([
      undefined,
      true,
    ]);
    expect(ended('lock.hold').map(milliseconds)).toEqual([1_500, 250]);
    expect(await measured()).toEqual({
      'lock.wait.duration': { [A]: { count: 2, sum: 1.5 } },
      'lock.hold.duration': { [A]: { count: 2, sum: 1.75 } },
      'lock.acquire.attempts': { [A]: 2 },
      'lock.lost': { [A]: 0 },
      'lock.renewal.failures': { [A]: 0 },
      'lock.held': { [A]: 0 },
      'lock.waiting': { [A]: 0 },
    });
  });

  it('have the caller as their parent, whoever hands the lock on, and link the hold before', async () => {
    instrument();
    const { locks } = service();
    const tracer = tracerProvider.getTracer('test');
    const call = (name: string): Promise<void> =>
      tracer.startActiveSpan(name, async (span) => {
        await locks.withLock('a', () => nextTurn());
        span.end();
      });
    await Promise.all([call('one'), call('two'), call('three')]);
    const parents = ['one', 'two', 'three'].map((name) => ended(name)[0]!.spanContext().spanId);
    for (const name of ['lock.acquire', 'lock.hold']) {
      expect(ended(name).map((span) => span.parentSpanContext?.spanId)).toEqual(parents);
    }
    const holds = ended('lock.hold').map((span) => span.spanContext().spanId);
    const links = ended('lock.hold').map((span) => span.links.map((link) => link.context.spanId));
    expect(links).toEqual([[], [holds[0]], [holds[1]]]);
  });

  it('are parents of nothing but the body, which runs in the span of its hold', async () => {
    instrument();
    const { locks } = service();
    const tracer = tracerProvider.getTracer('test');
    const work = (name: string): Promise<void> =>
      tracer.startActiveSpan(name, async (span) => {
        await nextTurn();
        span.end();
      });
    const body = async (): Promise<void> => {
      await work('in the body');
      await tracer.startActiveSpan('inner', async (span) => {
        await locks.withLock('a', () => work('in the inner body')); // it enters the lock again
        span.end();
      });
    };
    await tracer.startActiveSpan('caller', async (span) => {
      await locks.withLock('a', body);
      await work('after');
      span.end();
    });
    const lease = await locks.acquire('b');
    await tracer.startActiveSpan('elsewhere', async (span) => {
      await lease.run(() => work('in another span'));
      span.end();
    });
    await lease.release();
    const parentOf = (name: string): string | undefined => {
      const id = ended(name)[0]!.parentSpanContext?.spanId;
      return spans.getFinishedSpans().find((span) => span.spanContext().spanId === id)?.name;
    };
    const names = ['lock.hold', 'in the body', 'in the inner body', 'after', 'in another span'];
    expect(Object.fromEntries(names.map((name) => [name, parentOf(name)]))).toEqual({
      'lock.hold': 'caller',
      'in the body': 'lock.hold',
      'in the inner body': 'inner',
      after: 'caller',
      'in another span': 'elsewhere',
    });
    expect(ended('lock.hold').length).toBe(2);
  });

  it.each(['before', 'after'])(
    'leave the body what a watcher put around it that came %s them',
    async (order) => {
      const storage = new AsyncLocalStorage<string>();
      const watcher = {
        start(hold: HoldTrace): void {
          hold.wrap((body) => storage.run(hold.name, body));
        },
      };
      if (order === 'after') instrument();
      lockChannels.hold.subscribe(watcher);
      undo.push(() => lockChannels.hold.unsubscribe(watcher));
      if (order === 'before') instrument();
      const active = await service().locks.withLock('a', { name: 'mine' }, async () => {
        await nextTurn();
        return { store: storage.getStore(), span: trace.getActiveSpan()?.spanContext().spanId };
      });
      expect(active).toEqual({ store: 'mine', span: ended('lock.hold')[0]!.spanContext().spanId });
    },
  );

  it('are no parents of what a leader does, which may lead for weeks', async () => {
    instrument();
    const { locks } = service();
    const election = locks.election('mail');
    const lease = await election.campaign();
    const tracer = tracerProvider.getTracer('test');
    await lease.run(async () => tracer.startSpan('a job').end());
    await election.resign();
    expect(ended('lock.hold').length).toBe(1);
    expect(ended('a job')[0]!.parentSpanContext).toBeUndefined();
  });

  it('stay in the trace of the caller after a condition was awaited', async () => {
    instrument();
    const { locks } = service();
    const tracer = tracerProvider.getTracer('test');
    const waiter = tracer.startActiveSpan('caller', async (span) => {
      await locks.withLock('a', (lease) => locks.condition(lease, 'ready').await());
      span.end();
    });
    await nextTurn();
    await locks.withLock('a', (lease) => locks.condition(lease, 'ready').signal());
    await waiter;
    const { spanId, traceId } = ended('caller')[0]!.spanContext();
    const inTrace = ended('lock.hold').filter((span) => span.spanContext().traceId === traceId);
    expect(inTrace.map((span) => span.parentSpanContext?.spanId)).toEqual([spanId, spanId]);
    expect(inTrace.map(({ attributes }) => attributes['lock.hold.end'])).toEqual([
      'awaiting',
      'released',
    ]);
  });
});

describe('a call that gets no lease', () => {
  it('says why in one word, and is an error where it rejects', async () => {
    instrument();
    const { clock, locks } = service();
    const secret = 'card:4711';
    const lease = await locks.acquire(secret);
    expect(await locks.tryAcquire(secret)).toBe(null);
    const late = locks.acquire(secret, { wait: '1s' }).catch((error: Error) => error.name);
    const caller = new AbortController();
    const aborted = locks.acquire(secret, { signal: caller.signal }).catch((error) => error);
    await clock.advance(1_000);
    caller.abort(new Error('gone'));
    await Promise.all([late, aborted]);
    await lease.release();
    const calls = ended('lock.acquire').slice(1);
    expect(calls.map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
      ['LOCK_NOT_ACQUIRED', SpanStatusCode.UNSET],
      ['LOCK_NOT_ACQUIRED', SpanStatusCode.ERROR],
      ['aborted', SpanStatusCode.UNSET],
    ]);
    const told = JSON.stringify([
      spans.getFinishedSpans().map((span) => [span.attributes, span.status, span.events]),
      points.getMetrics(),
    ]);
    expect(told).not.toContain('4711');
    expect(told).not.toContain('token');
    expect((await measured())['lock.acquire.attempts']).toEqual({
      '(unnamed) exclusive memory': 1,
      '(unnamed) exclusive memory LOCK_NOT_ACQUIRED': 2,
      '(unnamed) exclusive memory aborted': 1,
    });
  });

  it('shows key and token in spans, where an operator asked for them', async () => {
    instrument({ keysInSpans: true });
    const { locks } = service();
    const lease = await locks.acquire('card:4711');
    await lease.release();
    expect(ended('lock.hold')[0]!.attributes).toMatchObject({
      'lock.key': 'card:4711',
      'lock.token': lease.fencingToken,
    });
    expect(JSON.stringify(await measured())).not.toContain('4711');
  });

  it('a lock that is lost is an error with its reason, counted once', async () => {
    instrument();
    const { locks } = service();
    const lease = await locks.acquire('a');
    const lost = once(lease.signal, 'abort');
    await locks.forceRelease('a');
    await lost;
    await lease.release();
    const [{ attributes, status }] = ended('lock.hold') as [ReadableSpan];
    expect([attributes['error.type'], attributes['lock.hold.end'], status.code]).toEqual([
      'forced',
      'lost',
      SpanStatusCode.ERROR,
    ]);
    expect(await measured()).toMatchObject({
      'lock.lost': { '(unnamed) exclusive memory': 1 },
      'lock.held': { '(unnamed) exclusive memory': 0 },
    });
  });
});

/** Metrics that are exported all the while. */
function exporting(send: () => void): MeterProvider {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  exporter.export = send;
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  const flushing = setInterval(() => void provider.forceFlush().catch(() => {}), 1);
  undo.push(() => clearInterval(flushing));
  return provider;
}

describe('whoever keeps spans or metrics', () => {
  const faults: Record<string, () => Parameters<typeof instrumentLocks>[0]> = {
    'an exporter that throws': () => ({
      tracerProvider: tracers({
        export: () => {
          throw new Error('full');
        },
        shutdown: async () => {},
      }),
    }),
    'an exporter that never answers': () => ({
      tracerProvider: tracers({ export: () => {}, shutdown: async () => {} }),
    }),
    'an exporter of metrics that throws': () => ({
      meterProvider: exporting(() => {
        throw new Error('full');
      }),
    }),
    'an exporter of metrics that never answers': () => ({ meterProvider: exporting(() => {}) }),
    'a tracer that throws': () => ({
      tracerProvider: {
        getTracer: () => {
          throw new Error('no tracer');
        },
      },
    }),
    'a histogram that throws': () => {
      const meter = meterProvider.getMeter('broken');
      meter.createHistogram = () => {
        throw new Error('no histogram');
      };
      return { meterProvider: { getMeter: () => meter } };
    },
  };

  it.each(Object.entries(faults))('breaks no lock: %s', async (_, fault) => {
    const { locks } = service();
    const told: unknown[] = [];
    diag.setLogger({
      error: (...args) => told.push(args),
      warn: () => {},
      info: () => {},
      debug: () => {},
      verbose: () => {},
    });
    instrument(fault());
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await locks.withLock('a', async () => turn)).toBe(turn);
    }
    const ours = told.filter((args) => String(args).includes('nest-redis-lock'));
    expect(ours.length).toBeLessThanOrEqual(2);
  });
});

describe('the instrumentation', () => {
  it('begins, ends and takes its providers as registerInstrumentations has it', async () => {
    const { locks } = service();
    const unregister = registerInstrumentations({
      tracerProvider,
      meterProvider,
      instrumentations: [new LockInstrumentation()],
    });
    const lease = await locks.acquire('a');
    unregister();
    await lease.release(); // what had begun ends without it
    await locks.withLock('a', () => nextTurn());
    expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(['lock.acquire']);
    expect(lockChannels.acquire.hasSubscribers).toBe(false);
    expect(lockChannels.hold.hasSubscribers).toBe(false);
  });

  it('counts no end of what began before it', async () => {
    const { clock, locks } = service();
    const other = { start: () => {} };
    lockChannels.acquire.subscribe(other);
    undo.push(() => lockChannels.acquire.unsubscribe(other));
    const lease = await locks.acquire('a');
    const waiting = locks.acquire('a');
    await nextTurn();
    instrument();
    await clock.advance(10);
    await lease.release();
    await (await waiting).release();
    expect(await measured()).toMatchObject({
      'lock.held': { '(unnamed) exclusive memory': 0 },
      'lock.waiting': { '(unnamed) exclusive memory': 0 },
      'lock.hold.duration': { '(unnamed) exclusive memory': { count: 1 } },
    });
    expect(ended('lock.acquire')).toEqual([]);
  });

  it('makes what it is told to alone, and takes the providers of the process, also late ones', async () => {
    const { locks } = service();
    instrument({ meterProvider: undefined, tracerProvider: undefined, traces: false });
    await locks.withLock('a', () => nextTurn());
    metrics.setGlobalMeterProvider(meterProvider);
    await locks.withLock('a', () => nextTurn());
    expect(spans.getFinishedSpans()).toEqual([]);
    expect(await measured()).toMatchObject({
      'lock.wait.duration': { '(unnamed) exclusive memory': { count: 1 } },
      'lock.acquire.attempts': { '(unnamed) exclusive memory': 2 },
    });
  });

  it('tells a late provider of the process of calls and locks that have not ended', async () => {
    const { locks } = service();
    instrument({ meterProvider: undefined });
    const lease = await locks.acquire('a');
    metrics.setGlobalMeterProvider(meterProvider);
    const waiting = locks.acquire('a');
    await nextTurn();
    expect(await measured()).toMatchObject({
      'lock.held': { '(unnamed) exclusive memory': 1 },
      'lock.waiting': { '(unnamed) exclusive memory': 1 },
    });
    await lease.release();
    await (await waiting).release();
  });

  it('makes spans and no metrics where it is told to', async () => {
    const { locks } = service();
    instrument({ metrics: false });
    await locks.withLock('a', () => nextTurn());
    expect(await measured()).toEqual({});
    expect([ended('lock.acquire').length, ended('lock.hold').length]).toEqual([1, 1]);
  });

  it('goes on with another configuration', async () => {
    const { locks } = service();
    const instrumentation = new LockInstrumentation({ enabled: false });
    undo.push(() => instrumentation.disable());
    instrumentation.setTracerProvider(tracerProvider);
    await locks.withLock('a', () => nextTurn());
    instrumentation.enable();
    instrumentation.setConfig({ keysInSpans: true });
    await locks.withLock('b', () => nextTurn());
    expect(ended('lock.acquire').map(({ attributes }) => attributes['lock.key'])).toEqual(['b']);
  });

  it('warns where it is at work twice', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    undo.push(() => warn.mockRestore());
    instrumentLocks({ tracerProvider, meterProvider })(); // which ends it
    instrument();
    expect(warn.mock.calls).toEqual([]);
    instrument();
    const text = (signal: string): string =>
      `Every lock is in the ${signal} twice: make one LockInstrumentation, or disable one before the next.`;
    const code = { code: 'LOCK_INSTRUMENTATION' };
    expect(warn.mock.calls).toEqual([
      [text('traces'), code],
      [text('metrics'), code],
    ]);
  });

  it('does not warn where one traces and another counts', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    undo.push(() => warn.mockRestore());
    instrument({ metrics: false });
    instrument({ traces: false });
    expect(warn.mock.calls).toEqual([]);
  });

  it('tells at most 500 names apart', async () => {
    instrument({ traces: false });
    const { locks } = service();
    for (let nth = 0; nth < 600; nth += 1) {
      await locks.withLock('a', { name: `job-${nth}` }, async () => nth);
    }
    const counts = (await measured())['lock.acquire.attempts']!;
    expect(Object.keys(counts).length).toBe(501);
    expect(counts['(other) exclusive memory']).toBe(100);
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(new LockInstrumentation({ enabled: false }).instrumentationVersion).toBe(version);
  });
});

function meters(): MeterProvider {
  points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 1e8 });
  return new MeterProvider({ readers: [reader] });
}

function tracers(exporter: SpanExporter): NodeTracerProvider {
  return new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
}

function instrument(options: Parameters<typeof instrumentLocks>[0] = {}): void {
  undo.push(instrumentLocks({ tracerProvider, meterProvider, ...options }));
}

function service() {
  const clock = new ManualClock();
  return { clock, locks: memoryLockService({ clock, server: new MemoryServer(clock) }) };
}

/** The spans of this name that have ended, the first first. */
function ended(name: string): ReadableSpan[] {
  return spans.getFinishedSpans().filter((span) => span.name === name);
}

function milliseconds({ duration: [seconds, nanoseconds] }: ReadableSpan): number {
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** What was measured, by metric: each point with its attributes in one line. */
async function measured(): Promise<Record<string, Record<string, unknown>>> {
  points.reset();
  await reader.forceFlush();
  const found: Record<string, Record<string, unknown>> = {};
  const all = points.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  for (const { descriptor, dataPoints } of all.flatMap((scope) => scope.metrics)) {
    for (const { attributes, value } of dataPoints as DataPoint<number | Histogram>[]) {
      const labels = Object.values(attributes).join(' ');
      (found[descriptor.name] ??= {})[labels] =
        typeof value === 'number' ? value : { count: value.count, sum: value.sum };
    }
  }
  return found;
}

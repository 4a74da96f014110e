import { context, type TracerProvider } from '@opentelemetry/api';
import { channel } from 'node:diagnostics_channel';
import { built } from '../adapters/library.js';

type OpenTelemetry = typeof import('../../../lib/watch/opentelemetry/index.js');
type Prometheus = typeof import('../../../lib/watch/prometheus/index.js');

/** What may watch the locks of a build while it is measured, by the name that follows `@`. */
export const WATCHERS: Record<string, () => Promise<void>> = {
  /** Hears of the begin of every call and hold, and does nothing. */
  async subscriber() {
    for (const name of ['acquire', 'hold']) {
      channel(`tracing:nest-redis-lock:${name}:start`).subscribe(() => {});
    }
  },

  async prometheus() {
    const { Registry } = await import('prom-client');
    (await built<Prometheus>('prometheus.js')).registerLockMetrics(new Registry());
  },

  async metrics() {
    const sdk = await import('@opentelemetry/sdk-metrics');
    const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
    const reader = new sdk.PeriodicExportingMetricReader({ exporter });
    const meterProvider = new sdk.MeterProvider({ readers: [reader] });
    const { instrumentLocks } = await built<OpenTelemetry>('opentelemetry.js');
    instrumentLocks({ meterProvider, traces: false });
  },

  /** The application is traced, and its locks are not: what each promise costs then. */
  async sdk() {
    await tracers();
  },

  /** Every call and hold is a span. */
  async traces() {
    const tracerProvider = await tracers();
    const { instrumentLocks } = await built<OpenTelemetry>('opentelemetry.js');
    instrumentLocks({ tracerProvider, metrics: false });
  },
};

/** Those of the process from now on. Spans are thrown away when they would be sent. */
async function tracers(): Promise<TracerProvider> {
  const sdk = await import('@opentelemetry/sdk-trace-node');
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  };
  const tracerProvider = new sdk.NodeTracerProvider({
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  tracerProvider.register();
  context.with(context.active(), () => {}); // as soon as anything is traced, Node.js follows every promise
  return tracerProvider;
}

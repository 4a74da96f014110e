import {
  type Attributes,
  diag,
  type MeterProvider,
  metrics,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { LockFigures } from '../telemetry/lock-figures.js';
import { attributesOf } from './attributes.js';
import { LockInstruments } from './lock-instruments.js';
import { LockSpans } from './lock-spans.js';
import { VERSION } from './version.js';

/** The configuration of `LockInstrumentation`. */
export interface LockInstrumentationConfig {
  /** Whether the instrumentation starts when it is constructed. Default: true. */
  enabled?: boolean;
  /** Whether each call for a lock and each held lock is a span. Default: true. */
  traces?: boolean;
  /** Whether durations and counts are kept. Default: true. */
  metrics?: boolean;
  /** Whether spans have `lock.key` and `lock.token`. Metrics never have them. Default: false. */
  keysInSpans?: boolean;
}

const NAME = 'nest-redis-lock';

/** How many trace and how many count in this process, of any copy of the package. */
const AT_WORK = {
  traces: Symbol.for('nest-redis-lock:traces'),
  metrics: Symbol.for('nest-redis-lock:metrics'),
};
const process_ = globalThis as { [atWork: symbol]: number | undefined };

/**
 * Spans and metrics of all locks of this process, for `registerInstrumentations` of `@opentelemetry/instrumentation` and for
 * option `instrumentations` of the SDK for Node.js. It patches no module, so it may be made before or after Nest and ioredis
 * are loaded.
 * @example `new NodeSDK({ instrumentations: [new LockInstrumentation()] }).start();`
 */
export class LockInstrumentation {
  readonly instrumentationName: string = NAME;
  readonly instrumentationVersion: string = VERSION;
  #config: LockInstrumentationConfig;
  #tracers: TracerProvider | undefined;
  #meters: MeterProvider | undefined;
  /** The tracer of the latest span. */
  #traced: { readonly provider: TracerProvider; readonly tracer: Tracer } | undefined;
  /** The instruments of the present provider, while metrics are kept. */
  #present: (() => LockInstruments) | undefined;
  #stop: (() => void) | undefined;

  constructor(config: LockInstrumentationConfig = {}) {
    this.#config = { ...config, enabled: config.enabled ?? true };
    if (this.#config.enabled) this.enable();
  }

  /** Starts the instrumentation. Does nothing if it is at work. */
  enable(): void {
    if (this.#stop) return;
    const { traces = true, metrics: counts = true, keysInSpans = false } = this.#config;
    const stops: (() => void)[] = [];
    if (traces) {
      stops.push(new LockSpans(() => this.#tracer(), keysInSpans).make(failed));
      stops.push(beAtWork('traces'));
    }
    if (counts) stops.push(this.#count(), beAtWork('metrics'));
    this.#stop = () => stops.forEach((stop) => stop());
  }

  /** Stops the instrumentation: spans and metrics end. */
  disable(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Sets the provider of further spans. Default: the provider of the process. */
  setTracerProvider(provider: TracerProvider): void {
    this.#tracers = provider;
  }

  /** Sets the provider of further metrics. Default: the provider of the process. */
  setMeterProvider(provider: MeterProvider): void {
    this.#meters = provider;
    this.#beginTelling();
  }

  getConfig(): LockInstrumentationConfig {
    return this.#config;
  }

  /** Replaces the configuration, and restarts an instrumentation that is at work. `enabled` matters only in the constructor. */
  setConfig(config: LockInstrumentationConfig): void {
    this.#config = config;
    if (!this.#stop) return;
    this.disable();
    this.enable();
  }

  /** The tracer of the present provider. */
  #tracer(): Tracer {
    const provider = this.#tracers ?? trace.getTracerProvider();
    if (this.#traced?.provider !== provider) {
      this.#traced = { provider, tracer: provider.getTracer(NAME, VERSION) };
    }
    return this.#traced.tracer;
  }

  /** Counts locks, and records figures with the instruments of the present provider. */
  #count(): () => void {
    let from: MeterProvider | undefined;
    let instruments: LockInstruments | undefined;
    const present = (): LockInstruments => {
      const provider = this.#meters ?? metrics.getMeterProvider();
      if (instruments && provider === from) return instruments;
      instruments?.stop();
      from = provider;
      return (instruments = new LockInstruments(provider.getMeter(NAME, VERSION), figures.series));
    };
    const figures = new LockFigures<Attributes>(attributesOf, {
      began: present, // held locks and waiting calls are reported before the first duration
      waited: (seconds, attributes) => present().wait.record(seconds, attributes),
      held: (seconds, attributes) => present().hold.record(seconds, attributes),
    });
    this.#present = present;
    this.#beginTelling();
    const stop = figures.count(failed);
    return () => {
      stop();
      instruments?.stop();
      this.#present = undefined;
    };
  }

  /** Creates the instruments at once: held locks and waiting calls are reported before the first duration. */
  #beginTelling(): void {
    try {
      this.#present?.();
    } catch (error) {
      failed(error);
    }
  }
}

function failed(error: unknown): void {
  diag.error('nest-redis-lock: a span or metric of a lock was not kept.', error);
}

/** Counts one more, and warns where it is not alone. Returns what to call at its end. */
function beAtWork(signal: keyof typeof AT_WORK): () => void {
  const counter = AT_WORK[signal];
  const atWork = (process_[counter] = (process_[counter] ?? 0) + 1);
  if (atWork > 1) {
    process.emitWarning(
      `Every lock is in the ${signal} twice: make one LockInstrumentation, or disable one before the next.`,
      { code: 'LOCK_INSTRUMENTATION' },
    );
  }
  return () => void (process_[counter]! -= 1);
}

import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { LockInstrumentation, type LockInstrumentationConfig } from './lock-instrumentation.js';

/** The options of `instrumentLocks`: which signals it makes, and for which providers. */
export interface InstrumentLocksOptions extends Omit<LockInstrumentationConfig, 'enabled'> {
  /** Default: the provider of the process, also one that is set later. */
  tracerProvider?: TracerProvider;
  /** Default: the provider of the process, also one that is set later, from the next call or grant on. */
  meterProvider?: MeterProvider;
}

/**
 * Starts spans and metrics of all locks of this process. Returns a function that stops them.
 * @example `const stop = instrumentLocks({ metrics: false });`
 */
export function instrumentLocks({
  tracerProvider,
  meterProvider,
  ...config
}: InstrumentLocksOptions = {}): () => void {
  const instrumentation = new LockInstrumentation({ ...config, enabled: false });
  if (tracerProvider) instrumentation.setTracerProvider(tracerProvider);
  if (meterProvider) instrumentation.setMeterProvider(meterProvider);
  instrumentation.enable();
  return () => instrumentation.disable();
}

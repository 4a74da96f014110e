import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { LockInstrumentation, type LockInstrumentationConfig } from './lock-instrumentation.js';

/** What `instrumentLocks` does, and where spans and metrics go. */
export interface InstrumentLocksOptions extends Omit<LockInstrumentationConfig, 'enabled'> {
  /** Default: the provider of the process, also one that is set later. */
  tracerProvider?: TracerProvider;
  /** Default: the provider of the process, also one that is set later. */
  meterProvider?: MeterProvider;
}

/** Begins to make spans and metrics of all locks of this process. Returns a function that ends that. */
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

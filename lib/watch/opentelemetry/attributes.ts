import type { Attributes } from '@opentelemetry/api';
import type { Labelled } from '../telemetry/series.js';

/** The attributes of spans and metrics; each has few values. */
export function attributesOf({ name, mode, topology }: Labelled, error?: string): Attributes {
  const attributes = { 'lock.name': name, 'lock.mode': mode, 'lock.topology': topology };
  return error === undefined ? attributes : { ...attributes, 'error.type': error };
}

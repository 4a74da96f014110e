import { newKeys } from './uncontended.js';
import type { MemoryWorkload } from './workload.js';

/** What Redis still has of locks that were held once. */
export const memory: MemoryWorkload = {
  kind: 'memory',
  name: 'memory after 1,000,000 different keys were locked once',
  processes: 1,
  keys: 1_000_000,
  rounds: 1,
  like: newKeys(256).name,
};

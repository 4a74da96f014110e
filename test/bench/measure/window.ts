import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from './monotonic.js';

/** When callers begin, from when on they are counted, and when they stop asking; on the shared clock. */
export interface Window {
  readonly start: number;
  readonly from: number;
  readonly until: number;
}

/** Resolves at this moment of the shared clock. */
export async function at(moment: number): Promise<void> {
  await pause(Math.max(0, moment - monotonic()));
}

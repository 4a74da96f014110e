import { BUDGET } from '../../lib/engine/client/queue/time-slice.js';
import { TTL } from './bounds.js';

/** However slow the machine is, no time slice ends meanwhile: a process hands its locks off in memory. */
export async function inOneSlice<Result>(run: () => Promise<Result>): Promise<Result> {
  const { ms } = BUDGET;
  BUDGET.ms = TTL;
  try {
    return await run();
  } finally {
    BUDGET.ms = ms;
  }
}

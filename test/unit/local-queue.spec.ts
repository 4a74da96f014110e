import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BUDGET } from '../../lib/client/time-slice.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';
import { noting } from '../support/noting.js';
import type { LockingProcess } from '../support/world.js';

let world: MemoryWorld;
beforeEach(() => {
  world = new MemoryWorld(kinds['lock']!);
});
afterEach(() => world.close());

/** Two turns of this length fit into a time slice, and the third ends after it. */
const TURN = BUDGET.ms * 0.4;

/** Callers that come in this order, each for a turn; they note when it begins. */
function callers(process: LockingProcess, steps: string[], count: number): Promise<unknown> {
  const call = async (nth: number): Promise<void> => {
    const lease = await process.acquire();
    steps.push(`turn ${nth}`);
    await new Promise<void>((resolve) => world.clock.after(TURN, resolve));
    await lease.release();
  };
  return later(Promise.all(Array.from({ length: count }, (_, at) => call(at + 1))));
}

describe('a process whose time slice is over', () => {
  it('has asked for its next entry before, where others wait: what it gives back comes to them by a mere release', async () => {
    const steps: string[] = [];
    const [z, b] = [await world.process(), await world.process()];
    const a = await world.process({}, noting(steps));
    const lease = await z.acquire();
    const other = later(b.acquire());
    await world.waiting(1);
    const all = callers(a, steps, 4);
    await world.waiting(2);
    await lease.release();
    await (await world.finish(other)).release();
    await world.finish(all);
    expect(steps).toEqual([
      'acquire',
      'turn 1',
      'turn 2',
      'turn 3',
      'acquire',
      'release',
      'turn 4',
      'release',
    ]);
  });

  it('asks in the step by which it gives back, where nobody else waits', async () => {
    const steps: string[] = [];
    const a = await world.process({}, noting(steps));
    await world.finish(callers(a, steps, 4));
    expect(steps).toEqual(['acquire', 'turn 1', 'turn 2', 'turn 3', 'yield', 'turn 4', 'release']);
  });
});

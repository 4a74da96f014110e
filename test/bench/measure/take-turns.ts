import { setImmediate as afterEvents, setTimeout as pause } from 'node:timers/promises';
import type { BenchClient } from '../adapters/index.js';
import type { TurnsWorkload } from '../workloads/workload.js';
import { monotonic } from './monotonic.js';
import type { Turn } from './turn.js';
import { at, type Window } from './window.js';

/** What the callers of one process did from `from` on, until all had come to an end. */
export interface Turns {
  readonly turns: Turn[];
  readonly gaveUp: number;
}

/** Of this process: no workload gives a name again. */
let keysEver = 0;

/** So many turns where no server answers, then timers have theirs. */
const IN_A_ROW = 256;

/** Lets the callers of one process take turns until the window is over. */
export async function takeTurns(
  client: BenchClient,
  { callers, contended, newKeys, section, think, inMemory }: TurnsWorkload,
  firstCaller: number,
  { start, from, until }: Window,
): Promise<Turns> {
  const turns: Turn[] = [];
  let gaveUp = 0;

  async function call(caller: number): Promise<void> {
    const own = contended ? 'bench:hot' : `bench:${caller}`;
    while (monotonic() < until) {
      const key = newKeys ? `${own}:${(keysEver += 1)}` : own;
      const asked = monotonic();
      const release = await client.acquire(key);
      const acquired = monotonic();
      if (!release) {
        if (acquired >= from) gaveUp += 1;
        continue;
      }
      if (section > 0) await pause(section);
      const releasing = monotonic();
      await release();
      if (acquired >= from) {
        turns.push({ caller, key, asked, acquired, releasing, released: monotonic() });
      }
      if (think > 0) await pause(Math.random() * 2 * think);
      if (inMemory && turns.length % IN_A_ROW === 0) await afterEvents();
    }
  }

  await at(start);
  await Promise.all(Array.from({ length: callers }, (_, index) => call(firstCaller + index)));
  return { turns, gaveUp };
}

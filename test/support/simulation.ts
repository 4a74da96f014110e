import { expect, jest } from '@jest/globals';
import { isLockError } from '../../lib/engine/errors/index.js';
import { checkHistory, type Claimed, HistoryRecorder } from './history.js';
import { kinds } from './kinds.js';
import { random } from './random.js';
import { slumber } from './slumber.js';
import { type Trouble, TroubledWorld } from './troubled-world.js';
import type { LockingProcess, Wrap } from './world.js';

export const CALM: Trouble = { request: 0, reply: 0, push: 0, delay: 3 };
export const ROUGH: Trouble = { request: 0.02, reply: 0.03, push: 0.1, delay: 20 };
export const STORM: Trouble = { request: 0.1, reply: 0.1, push: 0.3, delay: 60 };

/**
 * Processes that lock, abort, hurry, sleep and crash over a bad network; then the sky clears. The same for the
 * same seed. Resolves to the number of sections that ran; rejects if a promise was broken.
 */
export async function simulate(
  seed: number,
  trouble: Trouble,
  fairness: 'local' | 'strict',
  wrap?: Wrap,
): Promise<number> {
  const chance = random(seed);
  jest.spyOn(Math, 'random').mockImplementation(chance);
  const world = new TroubledWorld(kinds['lock']!, wrap, chance, trouble);
  world.patience = 300_000;
  const recorder = new HistoryRecorder(() => world.clock.monotonic());
  const pick = <T>(...options: readonly T[]): T => options[Math.floor(chance() * options.length)]!;
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => world.clock.after(ms * chance(), resolve));

  const naps = new Map<string, number[]>();
  /** The machine of a process sleeps now and then; nothing of it runs meanwhile. */
  const nap = async ({ store, clock }: LockingProcess): Promise<void> => {
    const ends: number[] = [];
    naps.set(store.processId, ends);
    for (let round = 0; round < 3; round += 1) {
      await pause(1_500);
      clock.fallAsleep();
      await pause(1_800);
      ends.push(world.clock.monotonic());
      clock.wake();
    }
  };
  const caller = async (process: LockingProcess): Promise<void> => {
    const rest = (ms: number): Promise<void> => pause(ms).then(() => process.clock.awake());
    for (let round = 0; round < 6; round += 1) {
      await rest(300);
      const options = {
        ttl: pick(300, 1_000, 5_000),
        wait: pick(0, 100, 3_000, 30_000),
        renew: pick(true, true, false),
        signal: chance() < 0.2 ? abortedAfter(pause(500)) : undefined,
      };
      try {
        const { lease, end } = await recorder.acquire(process, options);
        await rest(pick(1, 20, 500));
        end();
        await lease.release();
      } catch (error) {
        if (!isLockError(error) && !options.signal?.aborted) throw error;
      }
    }
  };
  const slept = ({ process, asked, from }: Claimed): boolean =>
    naps.get(process)!.some((end) => end > asked! && end <= from);
  const options = { commandTimeout: 250, fairness };
  const processes = await Promise.all(
    [1, 2, 3, 4].map(() =>
      world.process(options, (store, clock) => recorder.watch(slumber(store, clock))),
    ),
  );
  const [crashing, ...living] = processes as [LockingProcess, ...LockingProcess[]];
  const crash = pause(4_000).then(() => crashing.crash());
  const callers = processes.flatMap((process) => [1, 2, 3].map(() => caller(process)));
  await world.finish(Promise.all([...callers, ...processes.map(nap), crash]));
  world.trouble = CALM;
  await world.elapse(12_000);

  checkHistory(
    recorder.history.map((entry) =>
      // Who was granted the lock before, and did not hear of it in time, or was taken for dead, comes later than its entry says.
      world.grantsOf(entry.holder) > (entry.passed ? 0 : 1) || slept(entry)
        ? { ...entry, arrival: undefined }
        : entry,
    ),
  );
  expect((await world.finish(world.snapshot())).type).toBe('none');
  for (const { locks } of living) {
    expect(locks.load).toEqual({ held: 0, waiting: 0, leaving: 0, watched: 0 });
  }
  await world.close();
  return recorder.history.length;
}

function abortedAfter(moment: Promise<void>): AbortSignal {
  const controller = new AbortController();
  void moment.then(() => controller.abort(new Error('enough')));
  return controller.signal;
}

import { appendFileSync, readFileSync } from 'node:fs';
import { RedisLockStore } from '../../lib/locks/lock/redis-lock-store.js';
import { isLockError } from '../../lib/errors/index.js';
import {
  type AcquireOptions,
  moduleSettings,
  type RedisLockOptions,
  type Share,
  systemClock,
} from '../../lib/options/index.js';
import { type Claimed, HistoryRecorder } from './history.js';
import { monotonic } from './monotonic.js';
import { StallingClock } from './stalling-clock.js';
import { LockingProcess } from './world.js';

/** Callers of one process that want locks of one kind again and again. Plain data: it is sent to a process. */
export interface Competition {
  /** How often each way of asking is chosen; the weights add up to 1. */
  readonly ways: readonly (readonly [weight: number, way: Way])[];
  readonly callers: number;
  /** On the monotonic clock. */
  readonly end: number;
  /** The longest critical section in ms. */
  readonly pause: number;
  /** Where the history is written down as it happens. */
  readonly journal: string;
}

/** What one caller asks for: one of these keys, or so many of them at once. */
export interface Way {
  readonly keys: readonly string[];
  readonly atOnce?: number;
  readonly mode?: AcquireOptions['mode'];
  readonly share?: Share;
}

/** Competes until the time is up. Rejects with what is no error of a lock. */
export async function compete(options: RedisLockOptions, competition: Competition): Promise<void> {
  const { ways, callers, end, pause, journal } = competition;
  const settings = moduleSettings(options);
  const recorder = new HistoryRecorder(undefined, (claimed) =>
    appendFileSync(journal, `${JSON.stringify({ ...claimed, pid: process.pid })}\n`),
  );
  const store = recorder.watch(new RedisLockStore(settings, systemClock));
  const own = new LockingProcess(store, settings, new StallingClock(systemClock), undefined);
  await own.leases.open();
  const rest = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
  const caller = async (): Promise<void> => {
    while (monotonic() < end) {
      try {
        await recorder.run(own, request(ways), rest);
      } catch (error) {
        if (!isLockError(error)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await own.leases.close();
}

function request(ways: Competition['ways']): Omit<Way, 'keys' | 'atOnce'> & {
  key: readonly string[] | string;
} {
  let chance = Math.random();
  const [, way] = ways.find(([weight]) => (chance -= weight) < 0) ?? ways[0]!;
  const { keys, atOnce, ...rest } = way;
  const shuffled = keys
    .map((key) => ({ key, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ key }) => key);
  return { ...rest, key: atOnce ? shuffled.slice(0, atOnce).sort() : shuffled[0]! };
}

/** What is known of processes, by pid. */
export interface Fates {
  /** When they died: they believed nothing any more. */
  readonly killed: ReadonlyMap<number, number>;
  /** Who may have been granted a lock, and have heard of it when that was over: he asked again, in his old place. */
  readonly stopped: ReadonlySet<number>;
}

/** What a journal says. */
export function historyIn(journal: string, { killed, stopped }: Fates): Claimed[] {
  const claims = new Map<string, Claimed>();
  for (const line of readFileSync(journal, 'utf8').split('\n').filter(Boolean)) {
    const { pid, ...written } = JSON.parse(line) as Claimed & { pid: number };
    const { beside, arrival } = written;
    const claimed = {
      ...written,
      beside: beside === null ? Infinity : beside, // as JSON has it
      arrival: stopped.has(pid) ? undefined : arrival,
    };
    const { key, holder, process, from } = claimed;
    const to = Math.min(claimed.to, killed.get(pid) ?? Infinity);
    claims.set(`${process} ${key} ${holder} ${from}`, { ...claimed, to });
  }
  // Who was stopped between the grant and its first look at the clock held nothing when it went on.
  return [...claims.values()].filter(({ from, to }) => to > from);
}

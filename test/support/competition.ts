import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { RedisLockStore } from '../../lib/locks/lock/redis-lock-store.js';
import { isLockError } from '../../lib/errors/index.js';
import {
  type AcquireOptions,
  moduleSettings,
  type RedisLockOptions,
  type Share,
  systemClock,
} from '../../lib/options/index.js';
import { Condition } from '../../lib/services/condition.js';
import type { SingleLease } from '../../lib/client/single-lease.js';
import { type Claimed, type ConditionEvent, HistoryRecorder } from './history.js';
import { monotonic } from './monotonic.js';
import { StallingClock } from './stalling-clock.js';
import { SleptClock } from './slept-clock.js';
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
  /** Where it is written how long the machine of the process slept, if it does. */
  readonly slept?: string;
}

/** What one caller asks for: one of these keys, or so many of them at once. */
export interface Way {
  readonly keys: readonly string[];
  readonly atOnce?: number;
  readonly mode?: AcquireOptions['mode'];
  readonly share?: Share;
  /** Under the lock it wakes one who awaits this condition, or awaits it itself, so many ms at most. */
  readonly condition?: { readonly name: string; readonly wait: number };
}

/** Where the journal of conditions is, beside that of leases. */
function conditionsOf(journal: string): string {
  return `${journal}.conditions`;
}

/** Competes until the time is up. Rejects with what is no error of a lock. */
export async function compete(options: RedisLockOptions, competition: Competition): Promise<void> {
  const { ways, callers, end, pause, journal } = competition;
  const settings = moduleSettings(options);
  const recorder = new HistoryRecorder(undefined, (claimed) =>
    appendFileSync(journal, `${JSON.stringify({ ...claimed, pid: process.pid })}\n`),
  );
  const base = competition.slept ? new SleptClock(competition.slept) : systemClock;
  const clock = new StallingClock(base);
  const store = recorder.watch(new RedisLockStore(settings, base));
  const own = new LockingProcess(store, settings, clock, undefined);
  // One that was stopped while it connected does so again with its first call.
  await own.locks.open().catch((error: unknown) => {
    if (!isLockError(error)) throw error;
  });
  const rest = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
  const note = (kind: ConditionEvent['kind'], at = monotonic()): void =>
    appendFileSync(conditionsOf(journal), `${JSON.stringify({ kind, at, pid: process.pid })}\n`);
  /** One who signals as often as it awaits: nobody waits much longer than others. */
  const meet = async ({ condition, ...way }: ReturnType<typeof request>): Promise<void> => {
    const { lease, end: ended } = await recorder.acquire(own, way);
    const on = new Condition(own.locks.conditions, lease as SingleLease, condition!.name);
    let over = ended;
    try {
      await rest();
      if (Math.random() < 0.5) {
        const at = monotonic();
        note('signalled', at);
        if (!(await on.signal())) note('unheard', at);
      } else {
        over();
        over = () => {};
        const asked = monotonic();
        const woken = await on.await({ wait: condition!.wait });
        over = recorder.record(own, lease, way, { asked }).end;
        if (woken) note('woken');
        await rest();
      }
    } finally {
      over();
      await lease.release();
    }
  };
  const caller = async (): Promise<void> => {
    while (monotonic() < end) {
      try {
        const way = request(ways);
        await (way.condition ? meet(way) : recorder.run(own, way, rest));
      } catch (error) {
        if (!isLockError(error)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await own.locks.close();
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
  /** Who may have been granted a lock, and have heard of it when that was over: it asked again, with its old entry. */
  readonly stopped: ReadonlySet<number>;
}

/** What a journal says. */
export function historyIn(journal: string, { killed, stopped }: Fates): Claimed[] {
  const requests = new Map<string, Claimed>();
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
    requests.set(`${process} ${key} ${holder} ${from}`, { ...claimed, to });
  }
  // Who was stopped between the grant and its first look at the clock held nothing when it went on.
  return [...requests.values()].filter(({ from, to }) => to > from);
}

/** What a journal says of conditions. Who was stopped may have been taken for dead, and wakes then as if it had been signalled. */
export function conditionEventsIn(journal: string, { stopped }: Fates): ConditionEvent[] {
  const file = conditionsOf(journal);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ConditionEvent & { pid: number })
    .filter(({ kind, pid }) => kind !== 'woken' || !stopped.has(pid));
}

import { Redis } from 'ioredis';
import type { BenchClient } from '../adapters/index.js';
import { violations } from '../measure/exclusion.js';
import { VIOLATIONS } from '../measure/figures.js';
import { heapInUse } from '../measure/heap.js';
import { monotonic } from '../measure/monotonic.js';
import { memoryInUse } from '../measure/server-load.js';
import { type Spent, spentFrom, sum } from '../measure/spent.js';
import type { Turns } from '../measure/take-turns.js';
import type { Turn } from '../measure/turn.js';
import { at } from '../measure/window.js';
import type { LineUpWorkload } from '../workloads/workload.js';
import { type Kind, type Part, type Seat, WAITS_NOT } from './kind.js';

const KEY = 'bench:line-up';
/** So many waiters outweigh what else changes in a server's memory. */
const WEIGHTY = 1_000;
/** How long before the holder lets go its waiters are weighed, in ms. */
const WEIGHED = 100;
/** When the holder has the lock for sure, after the start, in ms. */
const TAKEN = 200;

interface LineUpPart extends Turns, Part {
  readonly waiting: Spent;
  /** Bytes that the waiters take: of heap, here; in the server, as the holder sees it. */
  readonly heap: number;
  readonly serverMemory: number;
}

/** Waiters line up behind one holder; then it lets go, and each has one turn. */
export const lineUp: Kind<LineUpWorkload, LineUpPart> = {
  long: true,

  timing: ({ held, bound }) => ({ warmUp: held + TAKEN, window: bound }),

  refuses: (_, { waits }) => (waits ? undefined : WAITS_NOT),

  play: (client, seat) => (seat.index === 0 ? hold(client, seat) : wait(client, seat)),

  figures({ waiters, bound }, [holder, ...others]) {
    const released = holder!.turns[0]!.releasing;
    const turns = others
      .flatMap((part) => part.turns)
      .filter(({ acquired }) => acquired > released);
    const times = turns.map(({ acquired }) => acquired - released);
    const last = times.reduce((latest, time) => Math.max(latest, time), 0);
    const first = times.reduce((earliest, time) => Math.min(earliest, time), Infinity);
    const { commands, cpu } = sum(others.map(({ waiting }) => waiting));
    return {
      served: turns.length,
      perSecond: (turns.length / (turns.length === waiters ? last : bound)) * 1_000,
      last: turns.length === waiters ? last : NaN,
      first: turns.length > 0 ? first : NaN,
      commandsWaiting: commands,
      commandsPerServed: commands / turns.length,
      cpuWaiting: cpu / 1_000,
      heapPerWaiter: others.reduce((total, { heap }) => total + heap, 0) / waiters,
      serverPerWaiter: holder!.serverMemory / waiters,
      gaveUp: others.reduce((total, part) => total + part.gaveUp, 0),
      violations: violations([...holder!.turns, ...others.flatMap((part) => part.turns)]),
    };
  },

  measures: ({ waiters }) => [
    { figure: 'perSecond', title: 'served/s', better: 'more', versus: ['peer'] },
    { figure: 'served', title: 'served' },
    { figure: 'last', title: 'all after ms' },
    { figure: 'first', title: 'first after ms' },
    { figure: 'commandsWaiting', title: 'commands while waiting' },
    { figure: 'commandsPerServed', title: 'each served', better: 'less', versus: ['peer'] },
    { figure: 'cpuWaiting', title: 'client CPU ms' },
    { figure: 'heapPerWaiter', title: 'heap bytes a waiter' },
    ...(waiters >= WEIGHTY ? [{ figure: 'serverPerWaiter', title: 'Redis bytes a waiter' }] : []),
    { figure: 'gaveUp', title: 'gave up', total: true },
    VIOLATIONS,
  ],
};

async function hold(client: BenchClient, { window, url }: Seat): Promise<LineUpPart> {
  const waiting = await spentFrom(window.start);
  const asked = monotonic();
  const release = await client.acquire(KEY);
  if (!release) throw new Error('The holder did not get a lock that was free.');
  const acquired = monotonic();
  const redis = new Redis(url);
  await at(window.start + TAKEN / 2);
  const memoryBefore = await memoryInUse(redis);
  await at(window.from - WEIGHED);
  const serverMemory = (await memoryInUse(redis)) - memoryBefore;
  await redis.quit();
  await at(window.from);
  const turn = { caller: -1, key: KEY, asked, acquired, releasing: monotonic() };
  await release();
  return {
    turns: [{ ...turn, released: monotonic() }],
    gaveUp: 0,
    unfinished: 0,
    waiting: waiting(),
    heap: 0,
    serverMemory,
  };
}

async function wait(
  client: BenchClient,
  { workload, index, window }: Seat<LineUpWorkload>,
): Promise<LineUpPart> {
  const callers = workload.waiters / (workload.processes - 1);
  const [before, here] = [Math.floor((index - 1) * callers), Math.floor(index * callers)];
  const turns: Turn[] = [];
  let gaveUp = 0;

  async function call(caller: number): Promise<void> {
    const asked = monotonic();
    const release = await client.acquire(KEY);
    if (!release) return void (gaveUp += 1);
    const acquired = monotonic();
    await release();
    turns.push({ caller, key: KEY, asked, acquired, releasing: acquired, released: monotonic() });
  }

  const heapBefore = heapInUse();
  const spent = await spentFrom(window.start + TAKEN);
  const calls = Array.from({ length: here - before }, (_, caller) => call(before + caller));
  const all = Promise.all(calls);
  await at(window.from - WEIGHED);
  const waiting = spent();
  const heap = heapInUse() - heapBefore;
  await Promise.race([all, at(window.until)]);
  all.catch(() => {}); // those who never came to an end
  return {
    turns,
    gaveUp,
    unfinished: calls.length - turns.length - gaveUp,
    waiting,
    heap,
    serverMemory: 0,
  };
}

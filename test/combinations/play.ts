import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import {
  LockLimitError,
  LockNotAcquiredError,
  LockUpgradeError,
} from '../../lib/engine/errors/index.js';
import { Heard } from '../support/heard.js';
import type { MemoryWorld } from '../support/memory-world.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import type { LockingProcess, Wrap } from '../support/world.js';
import { CalmPromises } from './calm-promises.js';
import { type Deed, drawCall, type DrawnCall, type Choice } from './drawn-call.js';
import { check, type Hold } from './hold.js';
import { nameOf, Promises } from './promises.js';
import { checkTold } from './told.js';
import { calmDown, type Setting, worldOf } from './world.js';

const PROCESSES = 3;
const CALLERS = 3;
const ROUNDS = 6;
const CONDITION = 'ready';
const GIVEN_UP = new Error('given up');
/** How long a command waits for its answer, in ms. */
const TIMEOUT = 250;
/**
 * How long a lock may be left, in ms: for a minimum hold; over a bad network, until its release is tried again as well. A vote
 * may be left for the longest lease.
 */
const LEFT = { calm: 2_500, troubled: 3_500, votes: 6_000 };

/** Processes call with options as a seed draws them. Resolves to how often; rejects where a promise was broken. */
export async function play(
  chance: () => number,
  drawn: (pick: Choice) => Setting,
  wrap?: Wrap,
): Promise<number> {
  const pick: Choice = (...some) => some[Math.floor(chance() * some.length)]!;
  const setting = drawn(pick);
  const { fairness, trouble, isQuorum = false } = setting;
  const world = worldOf(setting, chance, wrap);
  using heard = setting.listens ? new Heard() : undefined;
  const { clock } = world;
  const promises = trouble
    ? new Promises(clock, 2 * TIMEOUT) // an ask takes two commands where the first one finds others, and votes take two rounds
    : new CalmPromises(clock, fairness);
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, () => world.process({ commandTimeout: TIMEOUT })),
  );
  const callers = processes.flatMap((_, nth) =>
    Array.from({ length: CALLERS }, async () => {
      const caller = new Caller(world, promises, processes, nth, pick, isQuorum);
      for (let round = 0; round < ROUNDS; round += 1) await caller.call(drawCall(pick, isQuorum));
    }),
  );
  try {
    await world.finish(Promise.all(callers));
    calmDown(world);
    await world.elapse(isQuorum ? LEFT.votes : trouble ? LEFT.troubled : LEFT.calm);
    await expectNothingLeft(world, ...processes);
    await world.close();
    if (heard) checkTold(heard, promises.seen);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${promises.story}`, { cause: error });
  }
  return promises.calls;
}

/** Calls, does under the lease what was drawn, and compares what it sees with what is promised. */
class Caller {
  constructor(
    private readonly world: MemoryWorld,
    private readonly promises: Promises,
    private readonly processes: readonly LockingProcess[],
    private readonly process: number,
    private readonly pick: Choice,
    private readonly isQuorum: boolean,
  ) {}

  async call(call: DrawnCall): Promise<void> {
    const { promises, process } = this;
    const asked = promises.asks(call, process);
    let lease: BaseLease;
    try {
      lease = await this.#acquire(call, nameOf(asked));
    } catch (error) {
      if (error === GIVEN_UP) return promises.aborted(asked);
      if (error instanceof LockLimitError && call.maxWaiting < Infinity) {
        return void promises.crowded(asked);
      }
      if (error instanceof LockNotAcquiredError) return promises.refused(asked, error.waited);
      return promises.failed(asked, error);
    }
    const hold = promises.granted(asked, lease);
    for (const deed of call.deeds) {
      if (hold.state === 'over') break;
      promises.check(hold);
      if (!hold.lease.held) continue;
      await this.#do(deed, hold).catch((error) => promises.disturbed(hold, deed.kind, error));
    }
    if (hold.state !== 'over') await this.#giveBack(hold);
    await this.#pause(this.pick(0, 0, 50, 300));
  }

  get #client(): LockingProcess {
    return this.processes[this.process]!;
  }

  #acquire(
    { deeds: _, keys, abortAfter, ...options }: DrawnCall,
    name: string,
  ): Promise<BaseLease> {
    const key = keys.length === 1 ? keys[0]! : keys;
    return this.#until(abortAfter, (signal) =>
      this.#client.acquire({ ...options, name, key, signal }),
    );
  }

  /** Gives up so many ms after the call; undefined: never. */
  async #until<T>(ms: number | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const callOff =
      ms === undefined ? undefined : this.world.clock.after(ms, () => abort.abort(GIVEN_UP));
    try {
      return await call(abort.signal);
    } finally {
      callOff?.();
    }
  }

  async #giveBack(hold: Hold): Promise<void> {
    const { promises } = this;
    promises.check(hold);
    const { held } = hold.lease;
    const left = promises.leftOf(hold);
    promises.gaveBack(hold);
    promises.released(hold, held, left, await hold.lease.release());
  }

  async #do(deed: Deed, hold: Hold): Promise<void> {
    const { promises } = this;
    const { lease } = hold;
    promises.tell(hold, deed.kind, deed);
    switch (deed.kind) {
      case 'work':
        return this.#pause(deed.ms);
      case 'extend':
        promises.extends(hold, deed.ttl);
        return lease.extend(deed.ttl);
      case 'downgrade':
        hold.shared = true; // readers join as soon as it is sent
        return lease.downgrade();
      case 're-enter':
        return lease.run(() => this.#reenter(deed.inner, hold));
      case 'hand over':
        return this.#handOver(hold, deed.after);
      case 'await':
        return this.#await(hold, deed);
      case 'signal':
        await this.#client.locks.conditions.signal(lease as SingleLease, CONDITION, deed.most);
    }
  }

  /** At once, without a look at who waits. */
  async #reenter(call: DrawnCall, around: Hold): Promise<void> {
    const { promises } = this;
    if (!call.reentrant) return this.call(call);
    const from = promises.now();
    const mayNot = around.shared && !call.share;
    try {
      const lease = await this.#acquire(call, 'a re-entry');
      check(!mayNot, 'a reader became a writer');
      check(promises.now() - from <= 1 && lease.waited <= 1, 'a lock that is held was waited for');
      await this.#pause(this.pick(0, 10));
      const { held } = around.lease;
      check(lease.held === held, 'a lease that was entered again ended alone');
      check((await lease.release()) === held, 'a lease that was entered again was lost');
    } catch (error) {
      if (mayNot && error instanceof LockUpgradeError) return;
      if (error === GIVEN_UP && call.abortAfter === 0) return;
      throw error;
    }
  }

  async #handOver(hold: Hold, after: number): Promise<void> {
    this.promises.handsOver(hold);
    const text = await hold.lease.handOver();
    check(!hold.lease.held, 'a lease that was handed over is held');
    await this.#pause(after);
    const parts = readHandOver(text);
    const { locks } = this.#client;
    const from = this.promises.now();
    try {
      hold.lease = await locks.restore(parts);
    } catch (error) {
      locks.discard(parts).catch(() => {}); // what has no answer is tried again
      throw error;
    }
    this.promises.restored(hold, from);
  }

  async #await(hold: Hold, { wait, abortAfter }: Deed & { kind: 'await' }): Promise<void> {
    const { promises } = this;
    promises.gaveBack(hold, 'awaiting');
    try {
      await this.#until(abortAfter, (signal) =>
        this.#client.locks.conditions.await(hold.lease as SingleLease, {
          condition: CONDITION,
          wait,
          signal,
        }),
      );
      promises.begins(hold);
    } catch (error) {
      if (error !== GIVEN_UP) throw error;
      check(!hold.lease.held, 'a lease is held whose caller gave up to await');
      promises.gaveBack(hold);
      hold.lingersUntil = 0; // it was given back to await, and no minimum keeps it then
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.world.clock.after(ms, resolve));
  }
}

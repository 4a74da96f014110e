import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { LockProcess } from '../support/lock-process.js';
import { SOON } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import type { Worker } from '../support/worker.js';
import { Ledger } from './ledger.js';
import type { PeerClient, Turn } from './peers/peer.js';

const SIDES = ['ours', 'theirs'] as const;
type Side = (typeof SIDES)[number];

/** A lease of ours, in ms. */
const OURS = 10_000;

/** Between two turns of ours, in ms at most: who asks again at once has what others are only told of. */
const REST = 20;

/** Clients of several libraries on one lock. */
export class Crowd {
  readonly #end: number;
  /**
   * By then each has had its turns, also on a machine that has too much to do. There, a client of the SETNX articles may take
   * more than 100 ms from GET to GETSET, and its time stays behind for one of its leases.
   */
  readonly #latest: number;
  readonly #ledger: Ledger<Side>;

  /** How many were killed while they held it. */
  killings = 0;

  /** Of theirs, in ms; ours outlast whatever the machine has to do. */
  readonly #lease: number;

  constructor(redis: Redis, ms: number, { lease = OURS, key = 'crowd' } = {}) {
    this.#lease = lease;
    this.#ledger = new Ledger(redis, `value:${key}`);
    this.#end = monotonic() + ms;
    this.#latest = this.#end + lease + 4 * SOON;
  }

  /** The time is over, and each side has had its turns. */
  get #isOver(): boolean {
    const now = monotonic();
    return (
      now > this.#latest || (now > this.#end && !SIDES.some((who) => this.#ledger.turnsOf(who) < 3))
    );
  }

  /** Takes the lock and gives it back until the time is over. */
  async ours(client: Pick<LockProcess, 'acquire'>, name: string): Promise<void> {
    let token = 0;
    while (!this.#isOver) {
      const lease = await client.acquire(name, { ttl: OURS, wait: Infinity });
      const next = lease.toJSON().fencingToken;
      if (next !== undefined) {
        assert(next > token, 'a token did not grow');
        token = next;
      }
      await this.#ledger.section('ours', () => lease.release());
      await sleep(Math.random() * REST);
    }
  }

  /** With `crash`, one in three times it leaves the lock behind as one who crashed some time ago. */
  async theirs(client: PeerClient, name: string, crash?: () => Promise<unknown>): Promise<void> {
    const release = (): Promise<boolean> => client.release(name);
    const crashed = async (): Promise<boolean> => (await crash!()) !== null;
    while (!this.#isOver) {
      if (await client.acquire(name, this.#lease)) {
        await this.#ledger.section('theirs', crash && Math.random() < 0.33 ? crashed : release);
      }
      await sleep(Math.random() * 6);
    }
  }

  /** The turns of a process of ours. */
  async process(worker: Worker, key: string): Promise<void> {
    while (!this.#isOver) {
      const end = monotonic() + 500;
      const options = { ttl: OURS, wait: 60_000 };
      const contention = { key, callers: 1, end, pause: 3, rest: REST, options };
      for (const { entered, left, released } of await worker.call('contend', contention)) {
        this.#ledger.turn('ours', { from: entered, to: left, released });
      }
    }
  }

  /** The turns of a process of theirs, which counts on what `value:<name>` is. */
  async theirProcess(turn: () => Promise<Turn | null>): Promise<void> {
    while (!this.#isOver) {
      const had = await turn();
      if (had) this.#ledger.turn('theirs', had);
      await sleep(Math.random() * 6);
    }
  }

  /** Takes turns for half of the time, and is killed in the next, whose lease may be another. */
  async killed(client: PeerClient, name: string, last = this.#lease): Promise<void> {
    const half = monotonic() + (this.#end - monotonic()) / 2;
    for (;;) {
      const asked = monotonic();
      const dies = asked > half;
      if (await client.acquire(name, dies ? last : this.#lease)) {
        if (dies) {
          this.#ledger.ended('theirs', monotonic(), asked + last);
          this.killings += 1;
          return client.close();
        }
        await this.#ledger.section('theirs', () => client.release(name));
      }
      await sleep(Math.random() * 6);
    }
  }

  /** A process of ours, which has the lock once and is killed. */
  async killedProcess(worker: Worker, key: string, ttl: number): Promise<void> {
    const { at } = await worker.call('acquire', key, { ttl, wait: 60_000 });
    this.#ledger.ended('ours', at, monotonic());
    this.killings += 1;
    await worker.kill();
  }

  /** No two held it at one time, no update was lost, and neither side starved. */
  async check(): Promise<void> {
    await this.#ledger.check();
    const turns = SIDES.map((who) => `${who} ${this.#ledger.turnsOf(who)}`).join(', ');
    for (const who of SIDES)
      assert(this.#ledger.turnsOf(who) > 2, `${who} starved; turns: ${turns}`);
  }
}

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { LockProcess } from '../support/lock-process.js';
import { SOON } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import type { Worker } from '../support/worker.js';
import type { PeerClient, Turn } from './peers/peer.js';

const SIDES = ['ours', 'theirs'] as const;
type Side = (typeof SIDES)[number];

/** A lease of ours, in ms. */
const OURS = 10_000;

/** Between two turns of ours, in ms at most: who asks again at once has what others are only told of. */
const REST = 20;

/** Clients of several libraries on one lock, and who believed to hold it when. */
export class Crowd {
  readonly #end: number;
  /**
   * By then each has had its turns, also on a machine that has too much to do. There, a client of the SETNX articles may take
   * more than 100 ms from GET to GETSET, and its time stays behind for one of its leases.
   */
  readonly #latest: number;
  readonly #sections: { who: Side; from: number; to: number }[] = [];

  /** How many were killed while they held it. */
  killings = 0;

  /** How many turns each added 1 to a value that only the lock protects, by a GET and a SET. */
  #counted = 0;

  /** Of theirs, in ms; ours outlast whatever the machine has to do. */
  readonly #lease: number;

  /** Where that value is. */
  readonly #counter: string;

  constructor(
    private readonly redis: Redis,
    ms: number,
    { lease = OURS, key = 'crowd' } = {},
  ) {
    [this.#lease, this.#counter] = [lease, `value:${key}`];
    this.#end = monotonic() + ms;
    this.#latest = this.#end + lease + 4 * SOON;
  }

  /** The time is over, and each side has had its turns. */
  get #isOver(): boolean {
    const now = monotonic();
    return now > this.#latest || (now > this.#end && !SIDES.some((who) => this.#turnsOf(who) < 3));
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
      await this.#section('ours', () => lease.release());
      await sleep(Math.random() * REST);
    }
  }

  /** With `crash`, one in three times it leaves the lock behind as one who crashed some time ago. */
  async theirs(client: PeerClient, name: string, crash?: () => Promise<unknown>): Promise<void> {
    const release = (): Promise<boolean> => client.release(name);
    const crashed = async (): Promise<boolean> => (await crash!()) !== null;
    while (!this.#isOver) {
      if (await client.acquire(name, this.#lease)) {
        await this.#section('theirs', crash && Math.random() < 0.33 ? crashed : release);
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
        this.#sections.push({ who: 'ours', from: entered, to: left });
        this.#counted += 1;
        assert(released, 'the lock was not ours any more');
      }
    }
  }

  /** The turns of a process of theirs, which counts on what `value:<name>` is. */
  async theirProcess(turn: () => Promise<Turn | null>): Promise<void> {
    while (!this.#isOver) {
      const had = await turn();
      if (had) {
        this.#sections.push({ who: 'theirs', ...had });
        this.#counted += 1;
        assert(had.released, 'the lock was not theirs any more');
      }
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
          const ended = { who: 'theirs', from: monotonic(), to: asked + last } as const;
          this.#sections.push(ended);
          this.killings += 1;
          return client.close();
        }
        await this.#section('theirs', () => client.release(name));
      }
      await sleep(Math.random() * 6);
    }
  }

  /** A process of ours, which has the lock once and is killed. */
  async killedProcess(worker: Worker, key: string, ttl: number): Promise<void> {
    const { at } = await worker.call('acquire', key, { ttl, wait: 60_000 });
    this.#sections.push({ who: 'ours', from: at, to: monotonic() });
    this.killings += 1;
    await worker.kill();
  }

  /** No two held it at one time, no update was lost, and neither side starved. */
  async check(): Promise<void> {
    const sections = this.#sections.sort((a, b) => a.from - b.from);
    for (const [at, { to }] of sections.entries()) {
      const next = sections[at + 1];
      assert(!next || next.from >= to, 'two held the lock at one time');
    }
    assert.equal(Number(await this.redis.get(this.#counter)), this.#counted, 'an update was lost');
    const turns = SIDES.map((who) => `${who} ${this.#turnsOf(who)}`).join(', ');
    for (const who of SIDES) assert(this.#turnsOf(who) > 2, `${who} starved; turns: ${turns}`);
  }

  #turnsOf(side: Side): number {
    return this.#sections.filter(({ who }) => who === side).length;
  }

  async #section(who: Side, release: () => Promise<boolean>): Promise<void> {
    const from = monotonic();
    const value = Number(await this.redis.get(this.#counter));
    await sleep(Math.random() * 3);
    await this.redis.set(this.#counter, value + 1);
    this.#counted += 1;
    this.#sections.push({ who, from, to: monotonic() });
    assert(await release(), `the lock was not ${who} any more`);
  }
}

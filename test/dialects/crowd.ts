import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LockClient } from '../support/lock-client.js';
import { SOON } from '../support/bounds.js';
import type { PeerClient } from './peers/peer.js';

const SIDES = ['ours', 'theirs'] as const;
type Side = (typeof SIDES)[number];

/** Clients of several libraries on one lock, and who believed to hold it when. */
export class Crowd {
  readonly #end: number;
  /** By then each has had its turns, also on a machine that has too much to do. */
  readonly #latest: number;
  readonly #sections: { who: Side; from: number; to: number }[] = [];

  /** How many were killed while they held it. */
  killings = 0;

  constructor(
    ms: number,
    /** Of all leases, in ms. */
    private readonly lease = 10_000,
  ) {
    this.#end = performance.now() + ms;
    this.#latest = this.#end + 4 * SOON;
  }

  /** The time is over, and each side has had its turns. */
  get #isOver(): boolean {
    const now = performance.now();
    return now > this.#latest || (now > this.#end && !SIDES.some((who) => this.#turnsOf(who) < 3));
  }

  /** Takes the lock and gives it back until the time is over. */
  async ours(client: LockClient, name: string): Promise<void> {
    let token = 0;
    while (!this.#isOver) {
      const lease = await client.acquire(name, { ttl: this.lease, wait: Infinity });
      const next = lease.toJSON().fencingToken;
      if (next !== undefined) {
        assert(next > token, 'a token did not grow');
        token = next;
      }
      await this.#section('ours', () => lease.release());
    }
  }

  async theirs(client: PeerClient, name: string): Promise<void> {
    while (!this.#isOver) {
      if (await client.acquire(name, this.lease)) {
        await this.#section('theirs', () => client.release(name));
      }
      await sleep(Math.random() * 6);
    }
  }

  /** Takes turns for half of the time, and is killed in the next. */
  async killed(client: PeerClient, name: string): Promise<void> {
    const half = performance.now() + (this.#end - performance.now()) / 2;
    for (;;) {
      const asked = performance.now();
      if (await client.acquire(name, this.lease)) {
        if (performance.now() > half) {
          const ended = { who: 'theirs', from: performance.now(), to: asked + this.lease } as const;
          this.#sections.push(ended);
          this.killings += 1;
          return client.close();
        }
        await this.#section('theirs', () => client.release(name));
      }
      await sleep(Math.random() * 6);
    }
  }

  /** No two held it at one time, and neither side starved. */
  check(): void {
    const sections = this.#sections.sort((a, b) => a.from - b.from);
    for (const [at, { to }] of sections.entries()) {
      const next = sections[at + 1];
      assert(!next || next.from >= to, 'two held the lock at one time');
    }
    for (const who of SIDES) assert(this.#turnsOf(who) > 2, `${who}: ${this.#turnsOf(who)} turns`);
  }

  #turnsOf(side: Side): number {
    return this.#sections.filter(({ who }) => who === side).length;
  }

  async #section(who: Side, release: () => Promise<boolean>): Promise<void> {
    const from = performance.now();
    await sleep(Math.random() * 3);
    this.#sections.push({ who, from, to: performance.now() });
    assert(await release(), `the lock was not ${who} any more`);
  }
}

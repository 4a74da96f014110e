import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { monotonic } from '../support/monotonic.js';
import type { Turn } from './peers/peer.js';

/** A time in which one of `Who` believed to hold the lock. */
interface Section<Who> extends Pick<Turn, 'from' | 'to'> {
  readonly who: Who;
  readonly token: number | undefined;
}

/** Who believed to hold a lock when, and how often each added 1 to a value that only the lock protects, by a GET and a SET. */
export class Ledger<Who extends string> {
  readonly #sections: Section<Who>[] = [];
  #counted = 0;

  constructor(
    private readonly redis: Redis,
    private readonly counter: string,
  ) {}

  /** A turn of this process, which has the lock. */
  async section(who: Who, release: () => Promise<boolean>, token?: number): Promise<void> {
    const from = monotonic();
    const value = Number(await this.redis.get(this.counter));
    await sleep(Math.random() * 3);
    await this.redis.set(this.counter, value + 1);
    const to = monotonic();
    this.turn(who, { from, to, released: await release() }, token);
  }

  /** A turn that added 1, and gave the lock back. */
  turn(who: Who, { from, to, released }: Turn, token?: number): void {
    this.ended(who, from, to, token);
    this.#counted += 1;
    assert(released, `the lock was not ${who} any more`);
  }

  /** One that was ended before it added anything. */
  ended(who: Who, from: number, to: number, token?: number): void {
    this.#sections.push({ who, from, to, token });
  }

  turnsOf(side: Who): number {
    return this.#sections.filter(({ who }) => who === side).length;
  }

  /** No two held it at one time, no update was lost, and tokens grew. */
  async check(): Promise<void> {
    let [end, last] = [0, 0];
    for (const { from, to, token } of this.#sections.sort((a, b) => a.from - b.from)) {
      assert(from >= end, 'two held the lock at one time');
      if (token !== undefined) assert(token > last, 'a token did not grow');
      [end, last] = [to, token ?? last];
    }
    assert.equal(Number(await this.redis.get(this.counter)), this.#counted, 'an update was lost');
  }
}

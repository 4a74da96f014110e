import { conditionEntries } from '../locks/entry.js';
import type { Queued } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import {
  AWAITING,
  AWAITS,
  DEAD_LOOKS,
  EFFORT,
  FIRST_LEASE,
  GRANT_EFFORT,
  LONGEST_BATCH,
  LOOK_EFFORT,
  QUEUE_LIFE,
  SEVERAL_EFFORT,
  SILENCE,
} from '../protocol/constants.js';
import { MemoryLock, type Tokens } from './memory-lock.js';
import { type Entry, type MemoryServer, processIn } from './memory-server.js';

/** The queue of one lock: who waits, since when, and who is next. */
export class MemoryQueue {
  readonly lock: MemoryLock;

  constructor(
    private readonly server: MemoryServer,
    private readonly name: string,
  ) {
    this.lock = new MemoryLock(server, name);
  }

  /** Those who wait for the lock. */
  get entries(): readonly Entry[] {
    return this.#all.filter(({ enqueuedAt }) => enqueuedAt < AWAITING);
  }

  /** Those who await a condition: no grant comes to them. */
  get awaiting(): readonly Entry[] {
    return this.#all.filter(({ enqueuedAt }) => enqueuedAt >= AWAITING);
  }

  get #all(): readonly Entry[] {
    return this.server.queues.get(this.name) ?? [];
  }

  find(text: string): Entry | undefined {
    return this.#all.find((entry) => entry.text === text);
  }

  /** Where it was `before`, else behind the last; a clock that steps back lets nobody pass. */
  join(request: LockRequest, text: string, before?: number): Entry {
    return this.#put(request, text, before ?? this.#behind(this.entries, 0));
  }

  /** Behind all who await already. */
  await(request: LockRequest, text: string): Entry {
    return this.#put(request, text, this.#behind(this.awaiting, AWAITING));
  }

  leave(...texts: readonly string[]): void {
    this.#set(this.#all.filter(({ text }) => !texts.includes(text)));
  }

  /** The process has just asked. */
  heartbeat(process: string): void {
    const { seen, clock, queues } = this.server;
    const asks = seen.get(this.name) ?? new Map<string, number>();
    const now = clock.wall();
    asks.set(process, now);
    for (const [asker, at] of asks) {
      if (now - at >= QUEUE_LIFE) asks.delete(asker);
      else if (at > now) asks.set(asker, now); // seen before somebody set the clock back
    }
    seen.set(this.name, asks, QUEUE_LIFE);
    queues.expire(this.name, QUEUE_LIFE);
  }

  /** What the process of an entry is told; `requeued`: the server had forgotten the entry. */
  answer({ text, enqueuedAt }: Entry, remaining: number, requeued: boolean): Queued {
    const rank = enqueuedAt < AWAITING ? this.entries.findIndex((e) => e.text === text) : AWAITS;
    return { kind: 'queued', remaining, enqueuedAt: String(enqueuedAt), rank, requeued };
  }

  /** Of the first of these, those whose process is gone; the asker's shows itself before. */
  deadAmong(entries: readonly Entry[], { holder }: LockRequest): readonly Entry[] {
    this.heartbeat(processIn(holder));
    return entries.slice(0, DEAD_LOOKS).filter((entry) => !this.#isAlive(entry));
  }

  /** Removes the dead; the signal of one who waited after it goes on. */
  forget(dead: readonly Entry[]): void {
    for (const { text, request, enqueuedAt } of dead) {
      this.leave(text);
      if (request.condition && enqueuedAt < AWAITING) this.signalNext(request.condition.name);
    }
  }

  /** The first living one who awaits the condition queues as one who was signalled. False if there is none. */
  signalNext(condition: string): boolean {
    for (const entry of this.awaiting) {
      if (entry.request.condition?.name !== condition) continue;
      this.leave(entry.text);
      if (!this.#isAlive(entry)) continue;
      this.join(entry.request, conditionEntries(entry.request).signalled);
      return true;
    }
    return false;
  }

  /**
   * Lets entries in, in their order, as long as the next of them fits to who holds the lock, and tells
   * their processes; the asker needs no telling. An entry whose process does not listen is passed over
   * and kept; `home` reads the reply, and hears in any case. With which tokens the asker was let in, if it was.
   */
  grantNext(asker?: string, home?: string): Tokens | undefined {
    const { lock } = this;
    let asked: Tokens | undefined;
    let moved = false;
    let effort = EFFORT;
    for (const entry of this.#inTurn()) {
      const { text, process, request } = entry;
      const { share, condition } = request;
      const asks = text === asker;
      if (lock.current !== undefined && !lock.mode) return asked;
      if (effort <= 0) {
        const next = this.#isAlive(entry) ? entry : (this.find(asker ?? '') ?? entry);
        if (moved) this.server.inbox(next.process)?.kept(this.name, 0);
        return asked;
      }
      effort -= LOOK_EFFORT;
      if (!asks && !this.#isAlive(entry)) {
        moved = true;
        this.leave(text);
        if (condition) this.signalNext(condition.name); // a signal does not die with who got it
        continue;
      }
      if (!lock.fits(share)) return asked;
      if (asks) {
        this.leave(text);
        asked = lock.grant(request, request.ttl);
      } else if (process === home || this.server.inbox(process)) {
        effort -= GRANT_EFFORT + ((share?.count ?? 1) > 1 ? SEVERAL_EFFORT : 0);
        this.#push(entry);
        moved = true;
      }
    }
    return asked;
  }

  #push(entry: Entry): void {
    const { text, process, request } = entry;
    const batch = this.#batchBehind(entry);
    const remaining = Math.min(request.ttl, FIRST_LEASE);
    const more = request.tokenBlock > 0 ? batch.length : 0;
    const wanted = { ...request, tokenBlock: request.tokenBlock + more };
    const tokens = this.lock.grant(wanted, remaining);
    this.leave(text);
    const last = batch.at(-1)?.enqueuedAt.toString();
    this.server.inbox(process)?.granted({
      name: this.name,
      entry: text,
      remaining,
      ...tokens,
      batch: last === undefined ? undefined : { entries: batch.length, last },
    });
  }

  /** The entries directly behind, all of its process, ttl and kind, as in batch-behind.lua. */
  #batchBehind(entry: Entry): readonly Entry[] {
    const ending = /\/\d+\/x[01]$/.exec(entry.text)?.[0];
    if (!ending) return [];
    const { entries } = this;
    const at = entries.indexOf(entry) + 1;
    const behind = entries.slice(at, at + LONGEST_BATCH);
    const end = behind.findIndex(
      ({ text, process }) => process !== entry.process || !text.endsWith(ending),
    );
    return end < 0 ? behind : behind.slice(0, end);
  }

  /** An entry that was signalled on the way comes in its turn too. */
  *#inTurn(): Generator<Entry> {
    const met = new Set<string>();
    for (;;) {
      const entry = this.entries.find(({ text }) => !met.has(text));
      if (!entry) return;
      met.add(entry.text);
      yield entry;
    }
  }

  #isAlive({ process }: Entry): boolean {
    const at = this.server.seen.get(this.name)?.get(process);
    return at !== undefined && this.server.clock.wall() - at <= SILENCE;
  }

  #behind(entries: readonly Entry[], first: number): number {
    return Math.max(first + this.server.now(), (entries.at(-1)?.enqueuedAt ?? 0) + 1);
  }

  #put(request: LockRequest, text: string, enqueuedAt: number): Entry {
    const entry = { text, request: { ...request }, process: processIn(request.holder), enqueuedAt };
    this.#set([...this.#all, entry].sort((a, b) => a.enqueuedAt - b.enqueuedAt));
    return entry;
  }

  #set(entries: Entry[]): void {
    const { queues } = this.server;
    const left = queues.ttl(this.name);
    if (entries.length === 0) queues.delete(this.name);
    else queues.set(this.name, entries, left > 0 ? left : QUEUE_LIFE);
  }
}

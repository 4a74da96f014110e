import { LockStoreError } from '../../lib/engine/errors/index.js';
import { heldAlone } from '../../lib/engine/locks/holder.js';
import { MemoryServer } from '../../lib/memory/testing/index.js';
import type { Clock } from '../../lib/engine/options/index.js';
import type { Kind } from './kinds.js';
import { MemoryWorld } from './memory-world.js';
import type { Wrap } from './world.js';

/** How often, from 0 to 1, something goes wrong on the way, and how slow the way is at most, in ms. */
export interface Trouble {
  readonly request: number;
  readonly reply: number;
  readonly push: number;
  readonly delay: number;
  /** How often a command finds that all connections are reset. */
  readonly reset?: number;
}

/** A server behind a network that delays, reorders and loses what goes to it and what comes back. */
class TroubledServer extends MemoryServer {
  /** Fails each command that has no answer yet. */
  readonly #unanswered = new Set<(error: LockStoreError) => void>();

  constructor(
    clock: Clock,
    private readonly trouble: () => Trouble,
    private readonly random: () => number,
  ) {
    super(clock);
  }

  override get answers(): boolean {
    return false;
  }

  override run<T>(step: () => T): Promise<T> {
    const { reset = 0 } = this.trouble();
    if (reset > 0 && this.random() < reset) this.#reset();
    return new Promise((resolve, reject) => {
      const answered = (): unknown => this.#unanswered.delete(reject);
      this.#unanswered.add(reject);
      this.#carry(step).then(resolve, reject).finally(answered);
    });
  }

  async #carry<T>(step: () => T): Promise<T> {
    const { request, reply } = this.trouble();
    if (this.random() < request) return new Promise<T>(() => {});
    await this.#way();
    const answer = super.run(step);
    await Promise.allSettled([answer]);
    await this.#way();
    return this.random() < reply ? new Promise<T>(() => {}) : answer;
  }

  override subscribe(channel: string, subscriber: (text: string) => void): () => void {
    return super.subscribe(channel, (text) => this.#late(() => subscriber(text)));
  }

  override onResume(told: () => void): () => void {
    return super.onResume(() => this.#late(told));
  }

  /** What is on its way still arrives, but nobody hears what comes of it. */
  #reset(): void {
    for (const fail of this.#unanswered) fail(new LockStoreError('The connection was reset.'));
    this.#unanswered.clear();
    this.pause();
    this.resume();
  }

  #late(push: () => void): void {
    if (this.random() < this.trouble().push) return;
    void this.#way().then(push);
  }

  #way(): Promise<void> {
    const slow = this.random() < 0.05 ? 20 : 1;
    const ms = Math.floor(this.random() * this.trouble().delay * slow);
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }
}

/** A world in memory whose network is in trouble until `trouble` is ended. */
export class TroubledWorld extends MemoryWorld {
  readonly #grants = new Map<string, number>();

  constructor(
    kind: Kind,
    wrap: Wrap | undefined,
    readonly random: () => number,
    public trouble: Trouble,
  ) {
    super(kind, wrap);
    this.server = this.newServer();
    const { keys } = this.server;
    const set = keys.set.bind(keys);
    keys.set = (key, entry) => {
      if (entry.type === 'string') this.#written(String(entry.value));
      set(key, entry);
    };
  }

  protected newServer(): MemoryServer {
    return new TroubledServer(this.clock, () => this.trouble, this.random);
  }

  #written(value: string): void {
    const { holder } = heldAlone(value);
    this.#grants.set(holder, this.grantsOf(holder) + 1);
  }

  /** How often the server granted a lock to this holder: twice if it heard of the first grant too late. */
  grantsOf(holder: string): number {
    return this.#grants.get(holder) ?? 0;
  }
}

import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { Clock, ModuleSettings } from '../../lib/engine/options/index.js';
import { ManualClock, MemoryServer } from '../../lib/memory/testing/index.js';
import { MemoryLockStore } from '../../lib/memory/memory-lock-store.js';
import { World } from './world.js';

/** A server in memory, on a clock that stands still unless a test waits. */
export class MemoryWorld extends World {
  readonly clock = new ManualClock();
  server = new MemoryServer(this.clock);

  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    for (let ms = 0; ms < this.patience; ms += 1) {
      if (await condition()) return;
      await this.elapse(1);
    }
    throw new Error(`Within ${this.patience} ms it did not happen that ${what}.`);
  }

  /** From one timer to the next, since nothing else settles a promise here. */
  override async finish<T>(promise: Promise<T>): Promise<T> {
    const end = this.clock.monotonic() + this.patience;
    let settled = false;
    const settle = (): void => void (settled = true);
    promise.then(settle, settle);
    for (await this.elapse(0); !settled; await this.step(() => this.clock.advanceToNext())) {
      if (this.clock.monotonic() > end || this.clock.pending === 0) {
        throw new Error(`Within ${this.patience} ms it did not happen that a promise settled.`);
      }
    }
    return promise;
  }

  elapse(ms: number): Promise<void> {
    return this.step(() => this.clock.advance(ms));
  }

  pass(ms: number): Promise<void> {
    return this.elapse(ms);
  }

  outlive(ms: number): Promise<void> {
    return this.pass(ms);
  }

  async silence(ms: number): Promise<void> {
    const { keys } = this.server;
    for (const name of keys.names().filter((key) => key.endsWith(':seen'))) {
      const seen = keys.get('zset', name)!;
      for (const { name: process, score } of seen.ranks(0, -1)) {
        if (!process.includes('/')) seen.add(process, score - ms);
      }
    }
  }

  async flush(): Promise<void> {
    this.server.flush();
  }

  async pause(): Promise<void> {
    this.server.pause();
  }

  async resume(): Promise<void> {
    this.server.resume();
  }

  async plant(key: string, type: string): Promise<void> {
    const value = 'somebody else’s';
    this.server.keys.set(`lock:${key}`, { type, value, endsAt: Infinity });
  }

  /** All that keep its locks. */
  protected get servers(): readonly MemoryServer[] {
    return [this.server];
  }

  async keys(): Promise<{ name: string; ttl: number }[]> {
    return this.servers.flatMap(({ keys }) =>
      keys.names().map((name) => {
        const end = keys.endOf(name)!;
        return { name, ttl: end === Infinity ? -1 : end - keys.now };
      }),
    );
  }

  /** What is remembered beside lock `k`: heartbeats by process, and tokens of permits by holder. */
  remembered(): string[] {
    const { keys } = this.server;
    keys.tick();
    const seen = keys.get('zset', '{lock:k}:seen');
    return seen ? seen.ranks(0, -1).map(({ name }) => name) : [];
  }

  protected store(settings: ModuleSettings, clock: Clock): LockStore {
    return new MemoryLockStore(this.server, settings, clock);
  }

  protected source(): object {
    return {};
  }
}

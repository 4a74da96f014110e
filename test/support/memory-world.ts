import type { LockStore } from '../../lib/locks/lock-store.js';
import type { Clock, ModuleSettings } from '../../lib/options/index.js';
import { ManualClock, MemoryServer } from '../../lib/testing/index.js';
import { MemoryLockStore } from '../../lib/testing/memory-lock-store.js';
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
    const { seen } = this.server;
    for (const name of seen.keys()) {
      const asks = seen.get(name)!;
      for (const [process, at] of asks) asks.set(process, at - ms);
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
    this.server.values.set(`lock:${key}`, { type, text: 'somebody else’s' }, Infinity);
  }

  async keys(): Promise<{ name: string; ttl: number }[]> {
    const { values, queues, seen, fences, versions } = this.server;
    return Object.entries({ values, queues, seen, fences, versions }).flatMap(([kind, map]) =>
      map.keys().map((name) => ({ name: `${name}:${kind}`, ttl: map.ttl(name) })),
    );
  }

  protected store(settings: ModuleSettings, clock: Clock): LockStore {
    return new MemoryLockStore(this.server, settings, clock);
  }

  protected deafStore(settings: ModuleSettings, clock: Clock): LockStore {
    const store = new MemoryLockStore(this.server, settings, clock);
    const open = store.open.bind(store);
    store.open = async (listener) => {
      await open(listener);
      this.server.unsubscribe(store.processId);
    };
    return store;
  }

  protected source(): object {
    return {};
  }
}

import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import type { LockStore, Snapshot } from '../../lib/engine/locks/lock-store.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  type AcquireOptions,
  callSettings,
  moduleSettings,
  type ModuleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { until } from './until.js';

/** One process' worth of the library, each caller with an entry of its own unless `options` say otherwise. */
export class LockProcess {
  readonly settings: ModuleSettings;
  readonly store: LockStore;
  readonly locks: LockClient;

  constructor(
    options: RedisLockOptions,
    wrap: (store: LockStore) => LockStore = (store) => store,
    clock = systemClock,
  ) {
    this.settings = moduleSettings({ fairness: 'strict', ...options });
    this.store = wrap(new RedisLockStore(this.settings, clock));
    this.locks = new LockClient(this.store, this.settings, clock);
  }

  acquire(key: string, options: AcquireOptions = {}): Promise<BaseLease> {
    return this.locks.acquire(key, callSettings(options, this.settings.call), options.signal);
  }

  /** Goes on with a lease that was handed over. */
  async restore(text: string): Promise<BaseLease> {
    return this.locks.restore(readHandOver(text));
  }

  /** What can be seen of a lock, in the dialect of this client. */
  inspect(key: string): Promise<Snapshot> {
    return this.locks.inspect(key, 0, this.settings.call.format);
  }

  /** As an operator takes a lock from whoever holds it. */
  force(key: string): Promise<boolean | 'another'> {
    return this.locks.force(key, this.settings.call.format);
  }

  /** Resolves when so many callers wait for a lock, and the store has answered that they have to. */
  async waiting(key: string, count = 1): Promise<void> {
    await until(`${count} wait`, () => this.locks.load.waiting === count);
    await this.inspect(key); // behind their asks
  }

  /** True when nothing is held, awaited or being given up. */
  get idle(): boolean {
    const { held, waiting, leaving, watched } = this.locks.load;
    return held + waiting + leaving + watched === 0;
  }

  close(): Promise<void> {
    return this.locks.close();
  }
}

import type { Redis } from 'ioredis';
import { GRACE } from '../../lib/engine/locks/quorum/membership.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { Clock, ModuleSettings, RedisLockOptions } from '../../lib/engine/options/index.js';
import type { RedisProcess } from '../../tools/redis-server.js';
import { COMMAND } from './bounds.js';
import type { Kind } from './kinds.js';
import { RedisWorld } from './redis-world.js';
import type { Wrap } from './world.js';

/** Several independent servers and their real time; whatever happens happens to all that live. */
export class QuorumWorld extends RedisWorld {
  constructor(
    kind: Kind,
    wrap: Wrap | undefined,
    private readonly urls: readonly string[],
    private readonly controls: readonly Redis[],
    private readonly servers: readonly RedisProcess[],
  ) {
    super(kind, wrap, urls[0]!, controls[0]!, servers[0]!);
  }

  override async flush(): Promise<void> {
    await Promise.all(this.controls.map((control) => control.flushall()));
  }

  protected override async ageServers(ms: number): Promise<void> {
    const ageing = this.controls.map(async (control) => {
      await this.age(control, await control.keys('*'), ms);
    });
    await Promise.all(ageing);
  }

  protected override signal(signal: NodeJS.Signals): void {
    for (const server of this.servers) server.signal(signal);
  }

  override async plant(key: string, type: string): Promise<void> {
    await Promise.all(this.controls.map((control) => this.plantOn(control, key, type)));
  }

  protected override store(settings: ModuleSettings, clock: Clock): LockStore {
    let opening = false;
    const store = new QuorumLockStore(settings, {
      monotonic: () => clock.monotonic(),
      wall: () => clock.wall(),
      // The dead are not waited for once a majority is there.
      after: (ms, task) => clock.after(opening && ms === GRACE && this.dead > 0 ? 0 : ms, task),
    });
    const open = store.open.bind(store);
    store.open = async (listener) => {
      opening = true;
      await open(listener);
      opening = false;
    };
    return store;
  }

  /** Its servers have no queue: who waits is known where it waits. */
  override waiting(count: number, key = 'k'): Promise<void> {
    const waiting = (): number =>
      this.started.reduce((sum, { locks }) => sum + locks.load.waiting, 0);
    return this.until(`${count} wait for ${key}`, () => waiting() === count);
  }

  private get dead(): number {
    return this.urls.length - this.servers.length;
  }

  protected override deafStore(settings: ModuleSettings, clock: Clock): LockStore {
    return this.store(settings, clock);
  }

  protected override source(): RedisLockOptions {
    return { commandTimeout: COMMAND, nodes: this.urls };
  }
}

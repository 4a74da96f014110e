import type { Redis } from 'ioredis';
import { QuorumLockStore } from '../../lib/locks/quorum/quorum-lock-store.js';
import type { LockStore } from '../../lib/locks/lock-primitive.js';
import type { Clock, ModuleSettings, RedisLockOptions } from '../../lib/options/index.js';
import type { RedisProcess } from '../../tools/redis-server.js';
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

  override async pause(): Promise<void> {
    for (const server of this.servers) server.signal('SIGSTOP');
  }

  override async resume(): Promise<void> {
    for (const server of this.servers) server.signal('SIGCONT');
  }

  override async plant(key: string, type: string): Promise<void> {
    await Promise.all(this.controls.map((control) => this.plantOn(control, key, type)));
  }

  protected override store(settings: ModuleSettings, clock: Clock): LockStore {
    return new QuorumLockStore(settings, clock);
  }

  protected override deafStore(settings: ModuleSettings, clock: Clock): LockStore {
    return this.store(settings, clock);
  }

  protected override source(): RedisLockOptions {
    return { nodes: this.urls };
  }
}

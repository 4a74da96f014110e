import type { LockStore, PushListener } from '../../lib/engine/locks/lock-store.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import type { Clock, ModuleSettings, RedisLockOptions } from '../../lib/engine/options/index.js';
import { MemoryLockServer } from '../../lib/memory/memory-lock-server.js';
import type { MemoryServer } from '../../lib/memory/testing/index.js';
import { TroubledWorld } from './troubled-world.js';

/** Three servers in memory behind a network in trouble; the votes of two decide. */
export class MemoryQuorumWorld extends TroubledWorld {
  readonly #others = [this.newServer(), this.newServer()];

  protected override get servers(): readonly MemoryServer[] {
    return [this.server, ...this.#others];
  }

  protected override store(settings: ModuleSettings, clock: Clock): LockStore {
    return new MemoryQuorumStore(settings, clock, this.servers);
  }

  protected override source(): RedisLockOptions {
    return { nodes: this.servers.map((_, nth) => `redis://server-${nth}`) };
  }
}

/** A store whose nodes are in memory instead of at their addresses. */
class MemoryQuorumStore extends QuorumLockStore {
  readonly #servers: readonly MemoryLockServer[];

  constructor(settings: ModuleSettings, clock: Clock, servers: readonly MemoryServer[]) {
    super(settings, clock);
    const { commandTimeout } = settings;
    this.#servers = servers.map(
      (server) => new MemoryLockServer(server, commandTimeout, clock, 'inbox:', this.processId),
    );
    this.nodes.forEach((node, nth) => Object.assign(node, { server: this.#servers[nth] }));
  }

  override get ready(): boolean {
    return true;
  }

  override async open(listener: PushListener): Promise<void> {
    this.listener = listener;
    const reconnected = (): void => listener.reconnected();
    await Promise.all(this.#servers.map((each) => each.open({ message() {}, reconnected })));
  }

  override async close(): Promise<void> {
    await Promise.all(this.#servers.map((each) => each.close()));
  }
}

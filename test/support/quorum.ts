import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockingProcess } from './world.js';
import { StallingClock } from './stalling-clock.js';

/** So many independent servers, and the processes that lock on them. */
export class Quorum {
  readonly #processes: LockingProcess[] = [];

  private constructor(readonly servers: readonly RedisProcess[]) {}

  static async of(count: number): Promise<Quorum> {
    return new Quorum(await Promise.all(Array.from({ length: count }, () => RedisProcess.start())));
  }

  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** One more process that holds leases; it knows these of the servers, or all. */
  async process(options: RedisLockOptions = {}, nodes = this.urls): Promise<LockingProcess> {
    const settings = moduleSettings({ nodes, ...options });
    const clock = new StallingClock(systemClock);
    const process = new LockingProcess(
      new QuorumLockStore(settings, clock),
      settings,
      clock,
      undefined,
    );
    this.#processes.push(process);
    await process.locks.open();
    return process;
  }

  /** These servers answer nobody. */
  freeze(...which: readonly number[]): void {
    for (const at of which) this.servers[at]!.signal('SIGSTOP');
  }

  thaw(): void {
    for (const server of this.servers) server.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    this.thaw();
    await Promise.all(this.#processes.map(({ locks }) => locks.close()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

import type { Redis } from 'ioredis';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { StallingClock } from '../support/stalling-clock.js';
import { LockingProcess } from '../support/world.js';

/** A Cluster with a proxy before each primary. */
export class ProxiedCluster {
  readonly #control: readonly Redis[];

  private constructor(
    readonly cluster: ClusterProcess,
    readonly proxies: readonly FaultProxy[],
  ) {
    this.#control = cluster.primaries.map(({ url }) => controlOf(url));
  }

  static async start(): Promise<ProxiedCluster> {
    const cluster = await ClusterProcess.start({ replicas: 3 });
    const before = cluster.primaries.map(({ port }) => FaultProxy.before(port));
    return new ProxiedCluster(cluster, await Promise.all(before));
  }

  /** One more process, until the test is over; it goes through the proxies. */
  async member(options: RedisLockOptions = {}): Promise<LockingProcess> {
    const natMap = Object.fromEntries(
      this.cluster.primaries.map(({ port }, at) => [
        `127.0.0.1:${port}`,
        { host: '127.0.0.1', port: this.proxies[at]!.port },
      ]),
    );
    const redis = { cluster: this.cluster.seeds, natMap };
    const settings = moduleSettings({ redis, ...options });
    const clock = new StallingClock(systemClock);
    const store = new RedisLockStore(settings, clock);
    const process = new LockingProcess(store, settings, clock, undefined);
    await process.locks.open();
    closing.push(() => process.locks.close());
    return process;
  }

  /** How many scripts the primaries were asked to run, or refused to because the slot moves. */
  async scriptsAsked(): Promise<number> {
    const infos = await Promise.all(this.#control.map((node) => node.info('commandstats')));
    return infos
      .flatMap((info) => [
        ...info.matchAll(/cmdstat_evalsha:calls=(\d+),.*rejected_calls=(\d+),failed/g),
      ])
      .reduce((sum, [, calls, rejected]) => sum + Number(calls) + Number(rejected), 0);
  }

  async stop(): Promise<void> {
    for (const client of this.#control) client.disconnect();
    for (const proxy of this.proxies) await proxy.close();
    await this.cluster.stop();
  }
}

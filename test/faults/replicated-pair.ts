import type { Redis } from 'ioredis';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { type Clock, type RedisLockOptions, systemClock } from '../../lib/engine/options/index.js';
import { linked } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { FaultProxy, type Weather } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

/** No answer is so late, in ms. */
export const COMMAND_TIMEOUT = 5_000;
/** How long what is written is on its way to the replica, in ms. */
const LAG = 150;

/** A primary and a replica behind a link of its own. */
export class Pair {
  private constructor(
    readonly primary: RedisProcess,
    readonly replica: RedisProcess,
    readonly link: FaultProxy,
    readonly control: Redis,
    readonly standby: Redis,
  ) {}

  static async start(weather: Weather = { delay: LAG }): Promise<Pair> {
    const primary = await RedisProcess.start({ args: ['--repl-diskless-sync-delay', '0'] });
    const link = await FaultProxy.before(primary.port);
    const replica = await RedisProcess.start({
      args: ['--replicaof', '127.0.0.1', String(link.port)],
    });
    const [control, standby] = [primary, replica].map(({ url }) => controlOf(url)) as [
      Redis,
      Redis,
    ];
    const pair = new Pair(primary, replica, link, control, standby);
    closing.push(() => pair.stop());
    await until('the replica is linked', () => linked(control, 1));
    link.down = weather;
    return pair;
  }

  async client(options: RedisLockOptions = {}, clock: Clock = systemClock): Promise<LockProcess> {
    const ours: RedisLockOptions = {
      redis: this.primary.url,
      commandTimeout: COMMAND_TIMEOUT,
      durability: 'ignore',
    };
    const client = new LockProcess({ ...ours, ...options }, undefined, clock);
    closing.push(() => client.close());
    await client.locks.open();
    return client;
  }

  /** The primary dies, and its replica takes its place. */
  async failOver(): Promise<void> {
    await this.primary.kill();
    this.link.reset();
    await this.standby.replicaof('NO', 'ONE');
  }

  /** Who holds the lock `k` there, alone or with others. */
  async holders(on: Redis): Promise<string> {
    return [await on.get('lock:k'), ...(await on.zrange('{lock:k}:holders', 0, '-1'))].join();
  }

  /** How much the primary has told its replica, in bytes. */
  async told(): Promise<number> {
    return Number(/^master_repl_offset:(\d+)/m.exec(await this.control.info('replication'))![1]);
  }

  async stop(): Promise<void> {
    this.control.disconnect();
    this.standby.disconnect();
    await this.link.close();
    await Promise.all([this.primary.stop(), this.replica.stop()]);
  }
}

/** How a lease is had that a failover must not lose. */
export const ways: Record<string, (pair: Pair, options: RedisLockOptions) => Promise<Lease>> = {
  'that was free': async (pair, options) => {
    const client = await pair.client(options);
    await (await client.acquire('warm')).release();
    return client.acquire('k');
  },
  'that was free, by a script that is new to the server': async (pair, options) =>
    (await pair.client(options)).acquire('k'),
  'that was handed over': async (pair, options) => {
    const [holder, successor] = [await pair.client(options), await pair.client(options)];
    const before = await holder.acquire('k');
    const next = successor.acquire('k');
    await until(
      'the successor waits',
      async () => (await pair.control.zcard('{lock:k}:queue')) === 1,
    );
    void before.release();
    return next;
  },
  'that was asked for twice': async (pair, options) => {
    const through = await FaultProxy.before(pair.primary.port);
    closing.push(() => through.close());
    const client = await pair.client({ ...options, redis: through.url });
    await (await client.acquire('warm')).release();
    if (!pair.link.down.drop) pair.link.down = { delay: 3 * LAG }; // longer than a reconnect takes
    void through.once(([name]) => name === 'evalsha', 'cut');
    return client.acquire('k');
  },
  'that is shared': async (pair, options) =>
    (await pair.client(options)).acquire('k', { mode: 'shared' }),
  'that is fenced, locally handed on': async (pair, options) => {
    const client = await pair.client({ ...options, fairness: 'local' });
    const [first, second] = [client.acquire('k'), client.acquire('k')];
    void (await first).release();
    return second;
  },
};

import type { Redis } from 'ioredis';
import { type RedisLockOptions, systemClock } from '../../lib/engine/options/index.js';
import { linked } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { Application } from '../histories/application.js';
import { closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { until } from '../support/until.js';

/** A primary and its replica, and one address that leads to the primary: new connections only, as a VIP, a name or a proxy does. */
export class OneAddress {
  private constructor(
    readonly primary: RedisProcess,
    readonly replica: RedisProcess,
    private readonly control: Redis,
    readonly address: FaultProxy,
  ) {}

  static async start(): Promise<OneAddress> {
    const args = ['--repl-diskless-sync-delay', '0'];
    const primary = await RedisProcess.start({ args });
    closing.push(() => primary.stop());
    const of = ['--replicaof', '127.0.0.1', String(primary.port)];
    const replica = await RedisProcess.start({ args: [...args, ...of] });
    closing.push(() => replica.stop());
    const control = controlOf(primary.url);
    closing.push(() => control.disconnect());
    await until('the replica is linked', () => linked(control, 1));
    const address = await FaultProxy.before(primary.port);
    closing.push(() => address.close());
    return new OneAddress(primary, replica, control, address);
  }

  async application(options: RedisLockOptions): Promise<Application> {
    const app = await Application.start(
      {
        redis: this.address.url,
        ...(!options.replicas && { durability: 'ignore' }),
        ...options,
      },
      systemClock,
      (store) => store,
    );
    closing.push(() => app.close());
    await app.locks.inspect('k');
    return app;
  }

  /** The primary and its replica change places, and no write is lost. */
  async demote(): Promise<void> {
    await this.control.call('FAILOVER', 'TO', '127.0.0.1', String(this.replica.port));
    await until(
      'the primary follows the replica',
      async () => (await this.control.role())[0] === 'slave',
    );
  }

  /** A planned switch; connections stay where they are. */
  async switchOver(): Promise<void> {
    await this.demote();
    this.address.target = this.replica.port;
  }
}

import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import type { LockDialect, RedisLockOptions } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { Clock } from '../../lib/engine/options/index.js';
import type { PeerClient } from './peers/peer.js';

/** What a client emits that has subscribed by a command. */
const HEARD = { subscribe: 'message', psubscribe: 'pmessage', ssubscribe: 'smessage' } as const;

/** A machine on which crowds of several libraries run answers late now and then, which is no fault of the server. */
export const PATIENT = { commandTimeout: '20s' } as const;

/** One Redis of a test file, as the other side sees it and as we do, empty for every test. */
export class Sides {
  redis!: RedisProcess;
  theirs!: Redis;
  #us: LockProcess | undefined;
  readonly #closing: (() => Promise<unknown>)[] = [];

  constructor() {
    beforeAll(async () => {
      this.redis = await RedisProcess.start();
      this.theirs = new Redis(this.redis.url);
    });
    afterEach(async () => {
      const failures: unknown[] = [];
      for (const close of this.#closing.splice(0).reverse()) {
        await close().catch((error: unknown) => failures.push(error));
      }
      await this.theirs.flushall();
      if (failures.length > 0) throw new AggregateError(failures, 'Not all of them closed.');
    });
    afterAll(async () => {
      this.theirs.disconnect();
      await this.redis.stop();
    });
  }

  get us(): LockProcess {
    return this.#us!;
  }

  set us(client: LockProcess) {
    this.#us = this.closing(client, (us) => us.close());
  }

  /** One that is closed after the test, before those that came earlier. */
  closing<One>(one: One, close: (one: One) => unknown): One {
    this.#closing.push(async () => close(one));
    return one;
  }

  /** A process of ours. */
  client(
    options: RedisLockOptions,
    { clock, wrap }: { clock?: Clock; wrap?: (store: LockStore) => LockStore } = {},
  ): LockProcess {
    const client = new LockProcess({ redis: this.redis.url, ...PATIENT, ...options }, wrap, clock);
    return this.closing(client, (one) => one.close());
  }

  /** A client of another library. */
  async peer<Client extends PeerClient>(peer: {
    connect(url: string): Promise<Client>;
  }): Promise<Client> {
    return this.closing(await peer.connect(this.redis.url), (one) => one.close());
  }

  /** One more connection of theirs. */
  another(): Redis {
    return this.closing(this.theirs.duplicate(), (one) => one.disconnect());
  }

  /** What one hears who listens on a channel, or by a pattern. */
  async hears(command: keyof typeof HEARD, channel: string): Promise<string[]> {
    const [client, heard] = [this.another(), [] as string[]];
    client.on(HEARD[command], (...words: string[]) => void heard.push(words.at(-1)!));
    await client[command](channel);
    return heard;
  }

  /** How many listen on a channel. */
  async listeners(channel: string): Promise<number> {
    const [, count] = (await this.theirs.pubsub('NUMSUB', channel)) as [string, number];
    return count;
  }

  /** How often a command has come, to run by itself or in a script. */
  async calls(command: string): Promise<number> {
    const stats = await this.theirs.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  /** What is found out within one second of the server's clock, which it is told; once more, where that second was over. */
  async withinASecond<Found>(find: (second: number) => Promise<Found>): Promise<Found> {
    for (;;) {
      const second = await this.second();
      const found = await find(second);
      if ((await this.second()) === second) return found;
    }
  }

  /** The second of the server's clock, since the epoch. */
  async second(): Promise<number> {
    return Number((await this.theirs.time())[0]);
  }

  /** We, in a dialect. */
  start(dialect: LockDialect): LockProcess {
    return (this.us = new LockProcess({ redis: this.redis.url, ...PATIENT, dialect }));
  }
}

/** Fails, instead of waiting for ever, where nobody told us. */
export async function had(lease: Promise<Lease>): Promise<Lease> {
  let settled = false;
  void Promise.allSettled([lease]).then(() => (settled = true));
  await until('it is ours', () => settled);
  return lease;
}

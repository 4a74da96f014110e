import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { RedisProcess } from './redis-server.js';

/** How long a primary may be silent before its Sentinels take it for down, in ms. */
const DOWN_AFTER = 1_000;

/** How long the Sentinels may take to agree, in ms. On a busy machine one stands aside for 30 s when its timers come late (TILT). */
const AGREED_WITHIN = 90_000;

/** A primary of our own on loopback, its replicas, and the Sentinels that watch them. */
export class SentinelProcess {
  readonly #sentinels: RedisProcess[] = [];

  private constructor(
    /** The first of them is the primary at the start. */
    readonly servers: readonly RedisProcess[],
  ) {}

  /** Resolves when the replicas are linked and the Sentinels know each other. `args`: more of each server's redis.conf. */
  static async start({
    replicas = 2,
    sentinels = 3,
    args: more = [] as readonly string[],
  } = {}): Promise<SentinelProcess> {
    const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1', ...more];
    const primary = await RedisProcess.start({ args });
    const following = [...args, '--replicaof', '127.0.0.1', String(primary.port)];
    const followers = await Promise.all(
      Array.from({ length: replicas }, () => RedisProcess.start({ args: following })),
    );
    const group = new SentinelProcess([primary, ...followers]);
    try {
      for (let at = 0; at < sentinels; at += 1) await group.#watch();
      await group.#look({ info: 100, publish: 100 });
      await group.#together(replicas, sentinels);
      await group.#look({ info: 10_000, publish: 2_000 });
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  /** What the Sentinels call the primary: one of another group that finds its old port here is none of them. */
  get name(): string {
    return `locks-${this.servers[0]!.port}`;
  }

  /** What ioredis wants to know. */
  get source(): { sentinels: { host: string; port: number }[]; name: string } {
    const sentinels = this.#sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    return { sentinels, name: this.name };
  }

  /** The port of the primary, as the Sentinels have it now. */
  async primary(): Promise<number> {
    const address = await this.#ask(0, ['get-master-addr-by-name', this.name]);
    return Number((address as [string, string])[1]);
  }

  /** A switch of the primary that loses nothing, as an operator asks for it. */
  async failOver(): Promise<void> {
    const before = await this.primary();
    // Refused while it does not know its replicas well.
    await within(AGREED_WITHIN, async () => {
      const answer = await this.#ask(0, ['failover', this.name]);
      return answer === 'OK' || `it answers ${String(answer)} to a failover`;
    });
    await within(
      AGREED_WITHIN,
      async () => (await this.primary()) !== before || `the primary is still ${before}`,
    );
  }

  /** Sends a signal to one of the Sentinels. */
  signalSentinel(at: number, signal: NodeJS.Signals): void {
    this.#sentinels[at]!.signal(signal);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #watch(): Promise<void> {
    const { name } = this;
    const sentinel = [
      `sentinel monitor ${name} 127.0.0.1 ${this.servers[0]!.port} 2`,
      `sentinel down-after-milliseconds ${name} ${DOWN_AFTER}`,
      `sentinel failover-timeout ${name} 5000`,
    ];
    this.#sentinels.push(await RedisProcess.start({ sentinel }));
  }

  /** How often Sentinels look at servers and tell each other of themselves, in ms. Before Redis 7 they cannot be told. */
  async #look({ info, publish }: { info: number; publish: number }): Promise<void> {
    const words = ['debug', 'info-period', String(info), 'publish-period', String(publish)];
    await Promise.all(this.#sentinels.map((_, at) => this.#ask(at, words)));
  }

  async #together(replicas: number, sentinels: number): Promise<void> {
    for (const [at] of this.#sentinels.entries()) {
      const wanted = {
        'num-slaves': String(replicas),
        'num-other-sentinels': String(sentinels - 1),
      };
      await within(AGREED_WITHIN, async () => {
        const answer = (await this.#ask(at, ['master', this.name])) as string[];
        const known = Object.keys(wanted).map((field) => answer[answer.indexOf(field) + 1]);
        return (
          isDeepStrictEqual(known, Object.values(wanted)) ||
          `Sentinel ${at} says ${answer.join(' ')}`
        );
      });
    }
    const primary = new Redis(this.servers[0]!.url);
    await within(
      AGREED_WITHIN,
      async () => (await linked(primary, replicas)) || primary.info('replication'),
    ).finally(() => primary.disconnect());
  }

  /** Its answer, or the error in a list. */
  async #ask(at: number, words: readonly string[]): Promise<unknown> {
    const client = new Redis(this.#sentinels[at]!.port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on('error', () => {});
    try {
      return await client.call('SENTINEL', ...words);
    } catch (error) {
      return [String(error)];
    } finally {
      client.disconnect();
    }
  }
}

/**
 * Whether so many replicas of a primary have what is written to it. One that is attached gets nothing before
 * it has shown itself, which it does once a second, and nothing has an offset before the first is attached.
 */
export async function linked(primary: Redis, replicas: number): Promise<boolean> {
  const info = await primary.info('replication');
  await primary.set('linked', 1);
  return !/master_repl_offset:0\r/.test(info) && (await primary.wait(replicas, 100)) === replicas;
}

/** Waits until it is so. `state` says true, or what is so instead, which is in the error of who waited in vain. */
async function within(ms: number, state: () => Promise<true | string>): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    const said = await state();
    if (said === true) return;
    if (Date.now() > end) throw new Error(`The Sentinels did not agree within ${ms} ms: ${said}`);
    await sleep(20);
  }
}

import type { Redis } from 'ioredis';
import type { Clock, RedisSource } from '../options/index.js';
import { firstReady } from './first-ready.js';
import { GrantChannel, type InboxListener } from './grant-channel.js';
import { boundHandshake } from './bound-handshake.js';
import { addressOf, openClient } from './open-client.js';
import { RedisConnection, type ScriptRun } from './redis-connection.js';
import { ServerClock } from './server-clock.js';
import { notSent, storeFailure } from './store-failure.js';

/** One Redis as this process uses it: a connection for commands, one for its inbox, and the server's clock. */
export class RedisServer {
  readonly clock = new ServerClock();
  readonly inbox: string;
  #connection: RedisConnection | undefined;
  #channel: GrantChannel | undefined;
  #info = '';

  constructor(
    private readonly source: RedisSource,
    readonly timeout: number,
    readonly time: Clock,
    inboxPrefix: string,
    processId: string,
  ) {
    this.inbox = inboxPrefix + processId;
  }

  /**
   * Connects, reads the server's clock and tries the rights to SUBSCRIBE and PUBLISH.
   * @throws LockStoreError in bounded time; nothing stays open then.
   */
  async open(listener: InboxListener & { reconnected(): void }): Promise<void> {
    const commands = this.#client();
    const subscriber = this.#client();
    this.#connection = new RedisConnection(commands, this.timeout, this.time);
    this.#channel = new GrantChannel(
      new RedisConnection(subscriber, this.timeout, this.time),
      this.inbox,
      listener,
    );
    try {
      await Promise.all([firstReady(commands, this.time), firstReady(subscriber, this.time)]);
      await this.#connection.tryOut();
      await this.#readClock();
      await this.#channel.open();
      await this.#connection.send('publish', [this.inbox, 'hello']);
      this.#info = (await this.#connection.send('info').catch(() => '')) as string;
    } catch (error) {
      await this.close();
      throw storeFailure(error, undefined);
    }
    commands.on('close', () => this.clock.forget());
    commands.on('ready', () => {
      this.#readClock().then(
        () => listener.reconnected(),
        () => commands.disconnect(true),
      );
    });
  }

  get ready(): boolean {
    return this.#connection !== undefined && this.#connection.ready && this.clock.known;
  }

  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(run.key));
    return this.#connection!.run(run);
  }

  /** The latest moment at which a command sent now may still take effect, on the server's clock in µs; 0 if it cannot be sent. */
  notAfter(now: number): number {
    if (!this.clock.known) return 0;
    return Math.round((this.clock.serverTimeAt(now) + this.timeout) * 1_000);
  }

  /** Connects the inbox anew: a half-open connection hears nothing and does not know it. */
  replaceChannel(): void {
    this.#channel?.replace();
  }

  /** What the server calls itself since it was started; undefined where the user has no right to INFO. */
  get runId(): string | undefined {
    return /^run_id:(\w+)/m.exec(this.#info)?.[1];
  }

  /** From the server's INFO; nothing where the user has no right to it. */
  describe(): { found: string; warnings: string[] } {
    const client = this.#connection?.client;
    if (!client) return { found: 'Redis, not connected yet', warnings: [] };
    const version = /^redis_version:(.*?)\r?$/m.exec(this.#info)?.[1];
    const policy = /^maxmemory_policy:(.*?)\r?$/m.exec(this.#info)?.[1];
    const evicts = policy !== undefined && policy !== 'noeviction';
    return {
      found: `Redis ${version ?? '(version unknown)'} at ${addressOf(client)}`,
      warnings: evicts
        ? [
            `maxmemory-policy is ${policy}: Redis may evict locks that are held. Set it to noeviction.`,
          ]
        : [],
    };
  }

  async close(): Promise<void> {
    this.#connection?.close();
    this.#channel?.close();
    this.#connection = this.#channel = undefined;
    this.clock.forget();
  }

  #client(): Redis {
    const client = openClient(this.source, this.timeout);
    client.on('error', () => {}); // each failed command says it, and so does start-up
    boundHandshake(client, this.timeout, this.time);
    return client;
  }

  async #readClock(): Promise<void> {
    const connection = this.#connection!;
    const sentAt = this.time.monotonic();
    const [seconds, micros] = (await connection.send('time')) as [string, string];
    this.clock.learn(
      sentAt,
      this.time.monotonic(),
      Number(seconds) * 1_000 + Number(micros) / 1_000,
    );
  }
}

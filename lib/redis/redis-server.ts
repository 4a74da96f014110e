import type { Redis } from 'ioredis';
import { LockOptionsError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { firstReady } from './first-ready.js';
import { GrantChannel } from './grant-channel.js';
import type { LockServer, ServerListener } from './lock-server.js';
import { addressOf, openClient, type ServerSource } from './open-client.js';
import { watched } from './our-client.js';
import { RedisConnection } from './redis-connection.js';
import { RedisNode, type StepNode } from './redis-node.js';
import type { ScriptRun } from './script-run.js';
import { ServerClock } from './server-clock.js';
import { description, refuseRisks } from './server-description.js';
import type { ServerGuards } from './server-guards.js';
import { notSent, storeFailure } from './store-failure.js';
import { type KeyType, typedKeys } from './typed-keys.js';
import { WakeChannels } from './wake-channels.js';

/** One Redis as this process uses it: a connection for commands, one for its inbox, and the server's clock. */
export class RedisServer implements LockServer {
  readonly #clock = new ServerClock();
  readonly #wakes: WakeChannels;
  #node: RedisNode | undefined;
  #channel: GrantChannel | undefined;
  #info = '';

  constructor(
    private readonly source: ServerSource,
    readonly timeout: number,
    readonly time: Clock,
    readonly inboxPrefix: string,
    private readonly processId: string,
    private readonly guards: ServerGuards = {},
  ) {
    this.#wakes = new WakeChannels(time);
  }

  async open(listener: ServerListener): Promise<void> {
    const node = (this.#node = new RedisNode(
      this.#client(),
      this.timeout,
      this.time,
      this.guards,
      this.#clock,
    ));
    const subscriber = this.#client();
    this.#channel = new GrantChannel(
      new RedisConnection(subscriber, this.timeout, this.time),
      this.inboxPrefix + this.processId,
      listener,
      this.#wakes,
    );
    try {
      const reconnected = (): void => listener.reconnected();
      await Promise.all([node.open(reconnected, true), firstReady(subscriber, this.time)]);
      await this.#channel.open();
      await node.connection.send('publish', [this.#channel.inbox, 'hello']);
      this.#info = (await node.connection.send('info').catch(() => '')) as string;
      refuseRisks(this.#info, addressOf(node.client), this.guards);
    } catch (error) {
      await this.close();
      throw error instanceof LockOptionsError ? error : storeFailure(error, undefined);
    }
  }

  get ready(): boolean {
    return this.#node?.ready ?? false;
  }

  at<Answer>(key: string, step: (node: StepNode) => Promise<Answer>): Promise<Answer> {
    return this.#node ? step(this.#node) : Promise.reject(notSent(key));
  }

  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    return this.#node ? this.#node.run(run) : Promise.reject(notSent(run.key));
  }

  /** As {@link StepNode.notAfter}. */
  notAfter(now: number): number {
    return this.#node?.notAfter(now) ?? 0;
  }

  get clock(): ServerClock {
    return this.#clock;
  }

  slotOf(): number {
    return 0;
  }

  clockOf(): ServerClock {
    return this.#clock;
  }

  typedKeys(glob: string, type: KeyType): AsyncIterable<string> {
    if (!this.#node) throw notSent(undefined);
    return typedKeys(this.#node.connection, glob, type);
  }

  hear(channel: string, told: () => void): number {
    return this.#wakes.listen(channel, told);
  }

  replaceChannel(): void {
    this.#channel?.replace();
  }

  /** What the server calls itself since it was started; undefined where the user has no right to INFO. */
  get runId(): string | undefined {
    return /^run_id:(\w+)/m.exec(this.#info)?.[1];
  }

  /** From the server's INFO; nothing where the user has no right to it. */
  describe(): { found: string; warnings: string[] } {
    if (!this.#node) return { found: 'Redis, not connected yet', warnings: [] };
    return description(this.#info, addressOf(this.#node.client), this.guards);
  }

  async close(): Promise<void> {
    this.#node?.close();
    this.#channel?.close();
    this.#wakes.close();
    this.#node = this.#channel = undefined;
  }

  #client(): Redis {
    return watched(openClient(this.source, this.timeout), this.timeout, this.time);
  }
}

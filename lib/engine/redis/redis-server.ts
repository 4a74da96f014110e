import type { Clock } from '../options/index.js';
import { waitUntilReady, triedAtStart } from './wait-until-ready.js';
import { ForeignChannels } from './foreign-channels.js';
import { Inbox } from './inbox.js';
import type { KeyType } from './key-names.js';
import type { LockServer, ServerListener } from './lock-server.js';
import { addressOf, openConnection, serverOf, type ServerSource } from './open-connection.js';
import type { RedisConnection } from './redis-connection.js';
import { RedisNode, type Step, type StepNode } from './redis-node.js';
import type { ScriptRun } from './lua-script.js';
import { slotOf, slotTagOf } from './cluster/slot-map.js';
import { ServerClock } from './server-clock.js';
import { healthKey, notConnected, type ServerHealth } from './server-health.js';
import {
  checkSlots,
  type Description,
  hasSlots,
  type ServerChecks,
  serverField,
  serverMode,
} from './server-check.js';
import { notSent, unusable } from './store-failure.js';

const APART =
  'its address leads to several servers, such as a primary and its replica: commands reach one of them, the subscription another. Name the primary alone, or its Sentinels';
const NOT_YET = 'Redis, not connected yet';

/** One Redis as this process uses it: a connection for commands, one for its inbox, and the server's clock. */
export class RedisServer implements LockServer, StepNode {
  readonly clock = new ServerClock();
  readonly foreignChannels: ForeignChannels;
  #node: RedisNode | undefined;
  #inbox: Inbox | undefined;
  /** Whether no script may have keys of two slots there. */
  #hasSlots = false;
  /** The server's address; empty before {@link open}. */
  #address = '';
  /** Why the server cannot be used; undefined while it can. */
  #trouble: string | undefined = NOT_YET;

  constructor(
    private readonly source: ServerSource,
    readonly timeout: number,
    readonly time: Clock,
    readonly inboxPrefix: string,
    private readonly processId: string,
    private readonly checks: ServerChecks = {},
  ) {
    this.foreignChannels = new ForeignChannels(time);
  }

  async open(listener: ServerListener): Promise<void> {
    const { source, timeout, time, checks } = this;
    const connect = (): RedisConnection =>
      openConnection(source, timeout, time, checks.connectTimeout);
    const node = (this.#node = new RedisNode(connect(), checks, this.clock));
    const subscriber = connect();
    this.#address = addressOf(node.connection.client);
    const name = this.inboxPrefix + this.processId;
    const greet = (text: string): Promise<unknown> => this.#greet(text);
    const inbox = new Inbox(subscriber, name, listener, this.foreignChannels, greet);
    this.#inbox = inbox;
    const failed = (message: string): void => {
      this.#trouble = message;
    };
    try {
      const reconnected = (): void => void this.#rejoin(listener);
      await Promise.all([
        node.open(reconnected, true, failed),
        waitUntilReady(subscriber, { failed }),
      ]);
      const { connection } = node;
      const { closed, connectTimeout } = connection;
      const tried = <Result>(step: () => Promise<Result>): Promise<Result> =>
        triedAtStart(step, connectTimeout, time, () => closed.aborted);
      if (serverMode(node.info) === 'cluster') {
        await tried(() => checkSlots(connection, this.inboxPrefix));
      }
      this.#hasSlots = await tried(() => hasSlots(connection, this.inboxPrefix));
      await tried(() => inbox.open());
      await tried(() => this.#meet(inbox));
      this.#trouble = undefined;
    } catch (error) {
      await this.close();
      throw unusable(serverOf(node.connection.client), error);
    }
  }

  /**
   * Publishes a text that is no grant to this process's own inbox. Resolves to how many subscribers the inbox has at the
   * server that takes commands. If it has none, one of the two connections may be at a replica. The health check then
   * writes, which a demoted primary refuses.
   */
  async #greet(text: string): Promise<unknown> {
    const { inboxPrefix, processId, timeout } = this;
    const node = this.#node;
    const found = await node?.connection.send('publish', [inboxPrefix + processId, text]);
    if (found === 0) void node!.health(healthKey(inboxPrefix), timeout);
    return found;
  }

  /** The command connection is new, maybe to another server: the inbox follows. */
  async #rejoin(listener: ServerListener): Promise<void> {
    const found = await this.#greet('hello').catch(() => {}); // a failed publish proves nothing
    if (found === 0) this.doubtChannel();
    if (this.#node) listener.reconnected();
  }

  /** Makes sure that both connections are at one server. */
  async #meet(inbox: Inbox): Promise<void> {
    if ((await this.#greet('hello')) !== 0) return;
    await inbox.doubt();
    throw notSent(undefined, APART);
  }

  async health(prefix: string, within: number): Promise<ServerHealth[]> {
    if (this.#node && this.#trouble === undefined) {
      return [await this.#node.health(healthKey(prefix), within)];
    }
    return [notConnected(this.#address, this.#trouble?.replace(/\.$/, ''))];
  }

  async hears(within: number): Promise<boolean> {
    return (await this.#inbox?.hears(within)) ?? false;
  }

  get ready(): boolean {
    return this.#node?.ready ?? false;
  }

  take<Answer>(step: Step<Answer>): Promise<Answer> {
    const node = this.#node;
    return node ? node.runner.run(step.on(node)) : Promise.reject(notSent(step.key));
  }

  at<Answer>(
    _redisKey: string,
    _key: string | undefined,
    step: (node: StepNode) => Promise<Answer>,
  ): Promise<Answer> {
    return step(this);
  }

  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    return this.#node ? this.#node.run(run) : Promise.reject(notSent(run.key));
  }

  notAfter(now: number): number {
    return this.#node?.notAfter(now) ?? 0;
  }

  slotOf(key: string): number {
    return this.#hasSlots ? slotOf(key) : 0;
  }

  fenceTagOf(key: string): string {
    return this.#hasSlots ? slotTagOf(key) : '';
  }

  clockOf(): ServerClock {
    return this.clock;
  }

  typedKeys(glob: string, type: KeyType): AsyncIterable<string> {
    if (!this.#node) throw notSent(undefined);
    return this.#node.typedKeys(glob, type);
  }

  doubtChannel(): void {
    void this.#inbox?.doubt();
  }

  /** The id of this run of the server; undefined if the user has no right to INFO. */
  get runId(): string | undefined {
    return serverField(this.#node?.info ?? '', 'run_id');
  }

  describe(): Description {
    if (!this.#node || this.#trouble) {
      return { found: this.#trouble ?? NOT_YET, warnings: [] };
    }
    return this.#node.describe(addressOf(this.#node.connection.client));
  }

  async close(): Promise<void> {
    this.#node?.close();
    this.#inbox?.connection.close();
    this.foreignChannels.close();
    this.#node = this.#inbox = undefined;
  }
}

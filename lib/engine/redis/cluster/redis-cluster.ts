import { LockOptionsError } from '../../errors/index.js';
import { type Clock, MODULE_DEFAULTS } from '../../options/index.js';
import { inTime } from '../deadline.js';
import { triedAtStart } from '../wait-until-ready.js';
import { ForeignChannels } from '../foreign-channels.js';
import { Inbox } from '../inbox.js';
import type { KeyType } from '../key-names.js';
import type { LockServer, ServerListener } from '../lock-server.js';
import type { RedisConnection } from '../redis-connection.js';
import type { RedisNode, Step, StepNode } from '../redis-node.js';
import type { Description, ServerChecks } from '../server-check.js';
import type { ServerClock } from '../server-clock.js';
import { healthKey, notConnected, type ServerHealth } from '../server-health.js';
import { isDown, notSent, Redirection, unusable } from '../store-failure.js';
import { ClusterInbox } from './cluster-inbox.js';
import { ClusterNodes } from './cluster-nodes.js';
import type { ClusterSource } from './cluster-source.js';
import { type Address, slotOf, slotTagOf } from './slot-map.js';
import { Topology } from './topology.js';

/** The pause before a step is repeated while its slot moves to another node, in ms. */
const PAUSE = 20;

/**
 * A Redis Cluster as this process uses it: a connection and a clock for each primary, an inbox at any of them. A step is
 * repeated only after an answer which says that the node did nothing.
 */
export class RedisCluster implements LockServer {
  readonly inboxPrefix: string;
  /** The channels hear messages that are published at any node. */
  readonly foreignChannels: ForeignChannels;
  #nodes: ClusterNodes | undefined;
  #topology: Topology | undefined;
  #inbox: ClusterInbox | undefined;
  /** The node that was greeted once all else was open; undefined before that. */
  #greeted: RedisNode | undefined;
  /** Why the last attempt to open the Cluster failed; undefined before that. */
  #trouble: string | undefined;

  constructor(
    private readonly source: ClusterSource,
    private readonly timeout: number,
    readonly time: Clock,
    inboxPrefix: string,
    private readonly processId: string,
    private readonly checks: ServerChecks = {},
  ) {
    if (checks.durability === 'refuse') {
      throw new LockOptionsError(
        'Option "durability" is \'refuse\', which a Cluster cannot keep: take \'warn\' with option "replicas", or a quorum (option "nodes").',
      );
    }
    this.foreignChannels = new ForeignChannels(time);
    this.inboxPrefix = `${inboxPrefix}cluster:`; // the prefix tells scripts that a push may go to another node
  }

  async open(listener: ServerListener): Promise<void> {
    const connect = (address: Address): RedisConnection =>
      this.source.connection(address, this.timeout, this.time, this.checks.connectTimeout);
    const nodes = (this.#nodes = new ClusterNodes(
      connect,
      this.checks,
      () => this.#greeted && listener.reconnected(),
      () => this.#greeted && topology.refresh(),
    ));
    const topology = new Topology(this.source, nodes, this.time, () => listener.reconnected());
    this.#topology = topology;
    const name = this.inboxPrefix + this.processId;
    const greet = (text: string): Promise<RedisNode> => this.#greet(name, text);
    const inboxAt = (address: Address): Inbox =>
      new Inbox(connect(address), name, listener, this.foreignChannels, greet);
    const addresses = (): Address[] => topology.map.addresses;
    const inbox = (this.#inbox = new ClusterInbox(listener, this.time, inboxAt, addresses));
    try {
      await topology.find();
      await inbox.open();
      const { connectTimeout = MODULE_DEFAULTS.connectTimeout } = this.checks;
      const closed = (): boolean => this.#topology === undefined;
      const greeted = await triedAtStart(() => greet('hello'), connectTimeout, this.time, closed);
      if (closed()) throw notSent(undefined);
      this.#greeted = greeted;
    } catch (error) {
      await this.close();
      const failure = unusable(`The Cluster at ${this.source.seeds.join(' ')}`, error);
      this.#trouble = failure.message.replace(/\.$/, '');
      throw failure;
    }
    topology.refresh();
  }

  /** Publishes a text that is no grant to this process's own inbox. Resolves to the node that took it. */
  async #greet(name: string, text: string): Promise<RedisNode> {
    const [node] = this.#nodes?.ready ?? [];
    if (!node) throw notSent(undefined);
    await node.connection.send('publish', [name, text]);
    return node;
  }

  async health(prefix: string, within: number): Promise<ServerHealth[]> {
    const [nodes, topology] = [this.#nodes, this.#topology];
    if (!this.#greeted || !nodes || !topology) {
      return this.source.seeds.map((address) => notConnected(`${address}/0`, this.#trouble));
    }
    return Promise.all(
      topology.map.addresses.map(async (address) => {
        const key = healthKey(prefix, topology.map.tagAt(address));
        return (await nodes.at(address)?.health(key, within)) ?? notConnected(`${address}/0`);
      }),
    );
  }

  async hears(within: number): Promise<boolean> {
    return this.#inbox?.hears(within) ?? false;
  }

  get ready(): boolean {
    return this.#greeted !== undefined && this.#nodes!.ready.length > 0;
  }

  take<Answer>(step: Step<Answer>): Promise<Answer> {
    return this.at(step.redisKey, step.key, (node) => node.run(step.on(node)), step.wanted);
  }

  async at<Answer>(
    redisKey: string,
    key: string | undefined,
    step: (node: StepNode) => Promise<Answer>,
    wanted: () => boolean = () => true,
  ): Promise<Answer> {
    const slot = slotOf(redisKey);
    const giveUpAt = this.time.monotonic() + this.timeout;
    let node = this.#owner(slot);
    for (;;) {
      if (!node) throw notSent(key);
      try {
        return await step(node);
      } catch (error) {
        if (isDown(error)) this.#topology?.doubt(this.#topology.map.owner(slot));
        if (!(error instanceof Redirection) || this.time.monotonic() > giveUpAt) throw error;
        node = await this.#follow(error, slot, key, giveUpAt);
        if (!wanted()) throw notSent(key, 'the caller gave up');
      }
    }
  }

  readonly slotOf = slotOf;
  readonly fenceTagOf = slotTagOf;

  clockOf(key: string): ServerClock | undefined {
    return this.#owner(slotOf(key))?.clock;
  }

  async *typedKeys(glob: string, type: KeyType): AsyncGenerator<string> {
    for (const address of this.#topology?.map.addresses ?? []) {
      const node = this.#nodes?.at(address);
      if (!node) throw notSent(undefined);
      yield* node.typedKeys(glob, type);
    }
  }

  doubtChannel(): void {
    this.#inbox?.doubt();
  }

  describe(): Description {
    if (!this.#greeted) return { found: 'Redis Cluster, not connected yet', warnings: [] };
    return this.#greeted.describe(`Cluster ${this.#topology!.map.addresses.join(' ')}`);
  }

  async close(): Promise<void> {
    this.#topology?.close();
    this.#inbox?.close();
    this.#nodes?.close();
    this.foreignChannels.close();
    this.#topology = this.#inbox = this.#nodes = this.#greeted = undefined;
  }

  #owner(slot: number): StepNode | undefined {
    const address = this.#topology?.map.owner(slot);
    return address === undefined ? undefined : this.#nodes?.at(address);
  }

  /** The node that takes a redirected step. Rejects if it cannot be reached by `giveUpAt`, in monotonic ms. */
  async #follow(
    { kind, address }: Redirection,
    slot: number,
    key: string | undefined,
    giveUpAt: number,
  ): Promise<StepNode | undefined> {
    const [nodes, topology] = [this.#nodes, this.#topology];
    if (!nodes || !topology) return undefined;
    if (kind === 'tryagain' || /^\??:/.test(address)) {
      topology.refresh();
      await new Promise<void>((resolve) => void this.time.after(PAUSE, resolve));
      return this.#owner(slot);
    }
    const target = this.source.mapped(address);
    topology.redirected(target);
    // The caller's time may end before the node is connected: the connecting goes on for the next call.
    const left = giveUpAt - this.time.monotonic();
    const node = await inTime(this.time, left, nodes.open(target), async () => {
      topology.refresh(); // other nodes may know which node replaced this one
      throw notSent(key, `the node at ${target}, to which its slot was moved, is not connected`);
    });
    if (kind === 'ask') return node.asking;
    topology.move(slot, target);
    return node;
  }
}

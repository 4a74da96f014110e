import type { Redis } from 'ioredis';
import type { Clock } from '../../options/index.js';
import { notSent } from '../store-failure.js';
import { RedisNode } from '../redis-node.js';
import type { ServerGuards } from '../server-guards.js';
import type { Address } from './slot-map.js';

/** What is told of the nodes. */
interface NodesListener {
  reconnected(): void;
  /** The connection to a node was lost. */
  lost(): void;
}

/** Our connections to the nodes of a Cluster, one each. */
export class ClusterNodes {
  readonly #nodes = new Map<Address, { node: RedisNode; opening: Promise<unknown> }>();
  #closed = false;

  constructor(
    private readonly connect: (address: Address) => Redis,
    private readonly timeout: number,
    private readonly time: Clock,
    private readonly guards: ServerGuards,
    private readonly listener: NodesListener,
  ) {}

  /** The node at an address, connected or not. */
  at(address: Address): RedisNode | undefined {
    return this.#nodes.get(address)?.node;
  }

  get ready(): [Address, RedisNode][] {
    return [...this.#nodes]
      .map(([address, { node }]): [Address, RedisNode] => [address, node])
      .filter(([, node]) => node.ready);
  }

  /** The node at an address, connected at least once. */
  async open(address: Address): Promise<RedisNode> {
    if (this.#closed) throw notSent(undefined);
    let known = this.#nodes.get(address);
    if (!known) {
      const client = this.connect(address);
      const node = new RedisNode(client, this.timeout, this.time, this.guards);
      client.on('close', () => {
        if (this.at(address) === node) this.listener.lost();
      });
      const opening = node.open(() => this.listener.reconnected(), false);
      opening.catch(() => this.at(address) === node && this.#drop(address));
      known = { node, opening };
      this.#nodes.set(address, known);
    }
    await known.opening;
    return known.node;
  }

  /** Closes the connections to all but these. */
  keep(addresses: readonly Address[]): void {
    for (const address of this.#nodes.keys()) {
      if (!addresses.includes(address)) this.#drop(address);
    }
  }

  close(): void {
    this.#closed = true;
    this.keep([]);
  }

  #drop(address: Address): void {
    const known = this.#nodes.get(address);
    this.#nodes.delete(address);
    known?.node.close();
  }
}

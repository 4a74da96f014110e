import { detached } from '../../options/index.js';
import { notSent } from '../store-failure.js';
import type { RedisConnection } from '../redis-connection.js';
import { RedisNode } from '../redis-node.js';
import type { ServerChecks } from '../server-check.js';
import type { Address } from './slot-map.js';

/** This process's connections to the nodes of a Cluster, one each. */
export class ClusterNodes {
  readonly #nodes = new Map<Address, { node: RedisNode; opening: Promise<unknown> }>();
  #closed = false;

  constructor(
    private readonly connect: (address: Address) => RedisConnection,
    private readonly checks: ServerChecks,
    private readonly reconnected: () => void,
    /** Called when the connection to a usable node is lost. */
    private readonly lost: () => void,
  ) {}

  /** The node at an address, connected or not. */
  at(address: Address): RedisNode | undefined {
    return this.#nodes.get(address)?.node;
  }

  get ready(): RedisNode[] {
    return [...this.#nodes.values()].map(({ node }) => node).filter((node) => node.ready);
  }

  /** Resolves to the node at an address once it has been connected. */
  async open(address: Address): Promise<RedisNode> {
    if (this.#closed) throw notSent(undefined);
    let known = this.#nodes.get(address);
    if (!known) {
      const node = new RedisNode(this.connect(address), this.checks);
      node.connection.client.on('close', () => {
        if (node.clock.known && this.at(address) === node) this.lost(); // a node without a clock was never connected, so nothing was lost
      });
      const opening = detached(() => node.open(this.reconnected, false)); // the connection outlives the call that opens it
      opening.catch(() => this.at(address) === node && this.#drop(address));
      known = { node, opening };
      this.#nodes.set(address, known);
    }
    await known.opening;
    return known.node;
  }

  /** Closes the connections to all other nodes. */
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
    known?.node.close(!this.#closed);
  }
}

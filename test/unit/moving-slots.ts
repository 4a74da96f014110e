import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClusterNodes } from '../../lib/engine/redis/cluster/cluster-nodes.js';

/** A Cluster whose slots a test moves between nodes: at first a:1 has all, and answers alone. */
export class MovingSlots {
  /** The slots of each node, as CLUSTER SLOTS tells them. */
  slots: [first: number, last: number, primary: [host: string, port: number]][] = [
    [0, 16_383, ['a', 1]],
  ];
  /** The nodes that answer. */
  readonly ready = new Set(['a:1']);
  /** How often a node was asked who has which slot. */
  asked = 0;
  readonly requests = new AsyncLocalStorage<string>();
  /** The request in which that was asked last. */
  askedIn: string | undefined;

  readonly #node = {
    ready: true,
    connection: {
      send: async () => {
        this.asked += 1;
        this.askedIn = this.requests.getStore();
        return this.slots;
      },
    },
  };

  /** Its nodes, as who finds the slots sees them. */
  get nodes(): ClusterNodes {
    const nodes = {
      at: (address: string) => (this.ready.has(address) ? this.#node : undefined),
      open: async () => this.#node,
      keep() {},
    };
    return nodes as unknown as ClusterNodes;
  }
}

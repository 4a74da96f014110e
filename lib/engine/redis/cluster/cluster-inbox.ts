import type { Clock } from '../../options/index.js';
import { waitUntilReady } from '../wait-until-ready.js';
import type { Inbox } from '../inbox.js';
import type { ServerListener } from '../lock-server.js';
import { pauseBefore } from '../ioredis-workarounds.js';
import type { Address } from './slot-map.js';

/** This process's inbox in a Cluster, subscribed to at one node: each node receives what is published at the others. */
export class ClusterInbox {
  /** The inbox at the node that was tried last. */
  #inbox: Inbox | undefined;
  #closed = false;
  /** How many times in a row no node accepted the subscription. */
  #failures = 0;
  #cancel = (): void => {};

  constructor(
    private readonly listener: ServerListener,
    private readonly time: Clock,
    private readonly inboxAt: (address: Address) => Inbox,
    /** The nodes at which the inbox may be subscribed. */
    private readonly addresses: () => readonly Address[],
  ) {}

  /** Subscribes at the first node that accepts it, in random order, with `but` at the end. Rejects if none does. */
  async open(but?: Address): Promise<void> {
    let why: unknown;
    for (const address of shuffled(this.addresses(), but)) {
      if (this.#closed) return;
      try {
        return await this.#openAt(address);
      } catch (error) {
        why = error;
      }
    }
    if (this.#closed) return;
    throw why;
  }

  async #openAt(address: Address): Promise<void> {
    const inbox = (this.#inbox = this.inboxAt(address));
    const { connection } = inbox;
    try {
      await waitUntilReady(connection);
      await inbox.open();
    } catch (error) {
      connection.close();
      throw error;
    }
    connection.client.once('close', () => {
      connection.close();
      if (this.#inbox === inbox) this.#again(address);
    });
  }

  #again(lost?: Address): void {
    if (this.#closed) return;
    this.open(lost).then(
      () => {
        this.#failures = 0;
        if (!this.#closed) this.listener.reconnected();
      },
      (error: unknown) => {
        if (this.#closed) return;
        this.listener.unheard?.(error);
        this.#cancel = this.time.after(2 * pauseBefore(this.#failures), () => this.#again());
        this.#failures += 1;
      },
    );
  }

  /** As {@link LockServer.hears}. */
  async hears(within: number): Promise<boolean> {
    return (await this.#inbox?.hears(within)) ?? false;
  }

  doubt(): void {
    void this.#inbox?.doubt();
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#inbox?.connection.close();
  }
}

/** The addresses in random order; `last`, if it is among them, at the end. */
function shuffled(addresses: readonly Address[], last?: Address): Address[] {
  const order = addresses.map((address) => ({ address, at: address === last ? 1 : Math.random() }));
  return order.sort((a, b) => a.at - b.at).map(({ address }) => address);
}

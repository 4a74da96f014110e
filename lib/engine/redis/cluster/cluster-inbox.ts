import type { Clock } from '../../options/index.js';
import { waitUntilReady } from '../wait-until-ready.js';
import { Inbox, ForeignChannels } from '../inbox.js';
import type { ServerListener } from '../lock-server.js';
import { pauseBefore } from '../ioredis-workarounds.js';
import type { RedisConnection } from '../redis-connection.js';
import type { Address } from './slot-map.js';

/** This process's inbox in a Cluster, subscribed to at one node: each node receives what is published at the others. */
export class ClusterInbox {
  readonly #wakes: ForeignChannels;
  #subscriber: RedisConnection | undefined;
  #channel: Inbox | undefined;
  #closed = false;
  /** How many times in a row no node accepted the subscription. */
  #failures = 0;
  #cancel = (): void => {};

  constructor(
    readonly name: string,
    private readonly listener: ServerListener,
    private readonly time: Clock,
    private readonly connect: (address: Address) => RedisConnection,
    /** The nodes at which the inbox may be subscribed. */
    private readonly addresses: () => readonly Address[],
  ) {
    this.#wakes = new ForeignChannels(time);
  }

  /** Subscribes at the first node that accepts it, in random order, with `but` at the end. Rejects if none does. */
  async open(but?: Address): Promise<void> {
    let why: unknown;
    for (const address of shuffled(this.addresses(), but)) {
      try {
        return await this.#openAt(address);
      } catch (error) {
        why = error;
      }
      if (this.#closed) return;
    }
    throw why;
  }

  async #openAt(address: Address): Promise<void> {
    const subscriber = (this.#subscriber = this.connect(address));
    const channel = new Inbox(subscriber, this.name, this.listener, this.#wakes);
    this.#channel = channel;
    try {
      await waitUntilReady(subscriber);
      await channel.open();
    } catch (error) {
      subscriber.close();
      throw error;
    }
    subscriber.client.once('close', () => {
      subscriber.close();
      if (this.#subscriber === subscriber) this.#again(address);
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

  /** As {@link LockServer.listen}, for messages that are published at any node. */
  listen(channel: string, onMessage: (text: string) => void): number {
    return this.#wakes.listen(channel, onMessage);
  }

  /** As {@link LockServer.hears}. */
  async hears(publish: (text: string) => Promise<unknown>, within: number): Promise<boolean> {
    return this.#channel?.hears(publish, within) ?? false;
  }

  doubt(publish: (text: string) => Promise<unknown>): void {
    void this.#channel?.doubt(publish);
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#subscriber?.close();
    this.#wakes.close();
  }
}

/** The addresses in random order; `last`, if it is among them, at the end. */
function shuffled(addresses: readonly Address[], last?: Address): Address[] {
  const order = addresses.map((address) => ({ address, at: address === last ? 1 : Math.random() }));
  return order.sort((a, b) => a.at - b.at).map(({ address }) => address);
}

import { type Clock, detached } from '../../options/index.js';
import { unfit } from '../store-failure.js';
import type { ClusterNodes } from './cluster-nodes.js';
import type { ClusterSource } from './cluster-source.js';
import { type Address, SlotMap } from './slot-map.js';

/** The first and the longest pause before nodes are asked again while a slot has no node that answers, in ms. */
const PAUSE = 100;
const LONGEST = 1_000;
/** How long a node without a slot stays connected after a redirection to it, in ms: connecting and a step take less. */
const REDIRECTED = 10_000;

/** The node that owns each slot. The nodes are asked when one of them is lost, or says that a slot moved. */
export class Topology {
  #map = new SlotMap();
  #asking: Promise<void> | undefined;
  #closed = false;
  /** When the answer CLUSTERDOWN is heeded again, in monotonic ms. */
  #heedsFrom = 0;
  /** When a redirection last led to each node, in monotonic ms. */
  readonly #redirected = new Map<Address, number>();
  /** How many rounds in a row left a slot without a node that answers. */
  #rounds = 0;
  #cancel = (): void => {};

  constructor(
    private readonly source: ClusterSource,
    private readonly nodes: ClusterNodes,
    private readonly time: Clock,
    /** Called when slots have moved to other nodes. */
    private readonly changed: () => void,
  ) {}

  get map(): SlotMap {
    return this.#map;
  }

  /** Takes a node's word for the move of a slot. */
  move(slot: number, address: Address): void {
    this.#map.move(slot, address);
    this.refresh();
  }

  /** A step was sent on to this node, which owns no slot yet while its first one is on the way, or as others know. */
  redirected(address: Address): void {
    this.#redirected.set(address, this.time.monotonic());
  }

  /** Asks all seeds; the first answer names the other nodes. Rejects with the error of the last seed. */
  async find(): Promise<void> {
    this.#map = await firstOf(this.source.seeds.map((seed) => this.#ask(seed)));
    await Promise.allSettled(this.map.addresses.map((address) => this.nodes.open(address)));
    this.#keep();
  }

  /** A node serves no slot at the moment: the others are asked who does. */
  doubt(address: Address | undefined): void {
    const now = this.time.monotonic();
    if (now < this.#heedsFrom) return;
    this.#heedsFrom = now + PAUSE;
    this.refresh(address);
  }

  /** Asks until every slot has a node that answers; not the node `but`, if there is another. */
  refresh(but?: Address): void {
    this.#rounds = 0;
    this.#round(but);
  }

  #round(but?: Address): void {
    if (this.#closed || this.#asking) return;
    this.#cancel();
    this.#asking = detached(() => this.#refresh(but)) // the connections outlive the call that met the change
      .catch(() => false)
      .then((whole) => {
        this.#asking = undefined;
        if (whole || this.#closed) return;
        const pause = Math.min(PAUSE * 1.05 ** this.#rounds, LONGEST);
        this.#rounds += 1;
        this.#cancel = this.time.after(pause, () => this.#round());
      });
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  /** True if every slot has a node that answers. */
  async #refresh(but?: Address): Promise<boolean> {
    const ready = this.map.addresses.filter((one) => one !== but && this.nodes.at(one)?.ready);
    const asked = ready.length > 0 ? ready : this.source.seeds;
    const map = await this.#ask(asked[Math.floor(Math.random() * asked.length)]!);
    if (this.#closed) return false;
    // A node that cannot be reached must not hold up the others: the next round tries it again.
    const opening = map.addresses.filter((address) => !this.nodes.at(address));
    await Promise.race([
      Promise.allSettled(opening.map((address) => this.nodes.open(address))),
      new Promise<void>((resolve) => void this.time.after(PAUSE, resolve)),
    ]);
    if (this.#closed) return false;
    const moved = !map.equals(this.#map);
    this.#map = map;
    this.#keep();
    if (moved) this.changed();
    return map.unserved === 0 && map.addresses.every((address) => this.nodes.at(address)?.ready);
  }

  /** Closes the connections to nodes that steps need no more. */
  #keep(): void {
    const since = this.time.monotonic() - REDIRECTED;
    for (const [address, at] of this.#redirected) {
      if (at < since) this.#redirected.delete(address);
    }
    this.nodes.keep([...this.map.addresses, ...this.#redirected.keys()]);
  }

  async #ask(address: Address): Promise<SlotMap> {
    const { connection } = await this.nodes.open(address);
    const reply = await connection.send('cluster', ['slots']);
    const map = SlotMap.read(reply, address, this.source.mapped);
    if (map.addresses.length > 0) return map;
    throw unfit(
      `the node at ${address} knows no slots: create the Cluster first, or name another node`,
      true,
    );
  }
}

/** The first answer; if there is none, the error of the last promise in the list. */
export async function firstOf<Answer>(asked: readonly Promise<Answer>[]): Promise<Answer> {
  try {
    return await Promise.any(asked);
  } catch (error) {
    throw (error as AggregateError).errors.at(-1);
  }
}

import { type Clock, detached } from '../../options/index.js';
import { unfit } from '../store-failure.js';
import type { ClusterNodes } from './cluster-nodes.js';
import type { ClusterSource } from './cluster-source.js';
import { type Address, SlotMap } from './slot-map.js';

/** How long to wait before asking again while a slot has no node that answers, in ms: at first, and at most. */
const PAUSE = 100;
const LONGEST = 1_000;

/** Which node has which slot, as the nodes tell it: asked when one is lost, or says that a slot moved. */
export class Topology {
  #map = new SlotMap();
  #asking: Promise<void> | undefined;
  #closed = false;
  /** When the answer CLUSTERDOWN is heeded again, in monotonic ms. */
  #heedsFrom = 0;
  /** How often in a row it was asked in vain. */
  #rounds = 0;
  #cancel = (): void => {};

  constructor(
    private readonly source: ClusterSource,
    private readonly nodes: ClusterNodes,
    private readonly time: Clock,
    /** Slots have another node now. */
    private readonly changed: () => void,
  ) {}

  get addresses(): Address[] {
    return this.#map.addresses;
  }

  /** What in braces puts a key into a slot of this node. */
  tagAt(address: Address): string {
    return this.#map.tagAt(address);
  }

  owner(slot: number): Address | undefined {
    return this.#map.owner(slot);
  }

  /** A node said so. */
  move(slot: number, address: Address): void {
    this.#map.move(slot, address);
    this.refresh();
  }

  /** Finds the Cluster: asks all seeds, of which the first to answer says the rest. Rejects with the reason of the last one. */
  async find(): Promise<void> {
    this.#map = await firstOf(this.source.seeds.map((seed) => this.#ask(seed)));
    await Promise.allSettled(this.addresses.map((address) => this.nodes.open(address)));
    this.nodes.keep(this.addresses);
  }

  /** A node serves no slot at the moment: others may know who does. */
  doubt(address: Address | undefined): void {
    const now = this.time.monotonic();
    if (now < this.#heedsFrom) return;
    this.#heedsFrom = now + PAUSE;
    this.refresh(address);
  }

  /** Asks anew, until every slot's node answers; not the node `but`, where there is another. */
  refresh(but?: Address): void {
    this.#rounds = 0;
    this.#round(but);
  }

  #round(but?: Address): void {
    if (this.#closed || this.#asking) return;
    this.#cancel();
    this.#asking = detached(() => this.#refresh(but)) // what it opens outlives the call that met the change
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
    const ready = this.addresses.filter((one) => one !== but && this.nodes.at(one)?.ready);
    const asked = ready.length > 0 ? ready : this.source.seeds;
    const map = await this.#ask(asked[Math.floor(Math.random() * asked.length)]!);
    if (this.#closed) return false;
    // One that cannot be reached must not hold up the others: its turn comes with the next round.
    const opening = map.addresses.filter((address) => !this.nodes.at(address));
    await Promise.race([
      Promise.allSettled(opening.map((address) => this.nodes.open(address))),
      new Promise<void>((resolve) => void this.time.after(PAUSE, resolve)),
    ]);
    if (this.#closed) return false;
    const moved = !map.equals(this.#map);
    this.#map = map;
    this.nodes.keep(map.addresses);
    if (moved) this.changed();
    return map.addresses.every((address) => this.nodes.at(address)?.ready);
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

/** What is answered first; where nothing is, the reason of the last one in the list. */
export async function firstOf<Answer>(asked: readonly Promise<Answer>[]): Promise<Answer> {
  try {
    return await Promise.any(asked);
  } catch (error) {
    throw (error as AggregateError).errors.at(-1);
  }
}

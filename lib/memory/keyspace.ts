import type { Clock } from '../engine/options/index.js';
import { SortedSet } from './sorted-set.js';

/** The values of keys, by type. */
export interface Contents {
  string: string;
  hash: Map<string, string>;
  list: string[];
  zset: SortedSet;
}

interface Entry {
  readonly type: string;
  readonly value: unknown;
  /** Ms since the epoch; Infinity for a key that does not expire. */
  endsAt: number;
}

/** The error with which Redis refuses a command. */
export class RefusedCommand extends Error {
  override readonly name = 'ReplyError'; // the name that ioredis gives to errors of a server
}

const MADE: { readonly [Type in keyof Contents]: () => Contents[Type] } = {
  string: () => '',
  hash: () => new Map(),
  list: () => [],
  zset: () => new SortedSet(),
};

/** How many keys there are at least before those that have expired are looked for. */
const FEW = 100;

/** The keys of a server, each with a value of one type and a time at which it expires. */
export class Keyspace {
  readonly #entries = new Map<string, Entry>();
  #many = FEW;
  #now = 0;

  constructor(private readonly clock: Clock) {}

  /** The time in ms since the epoch, constant during a script. */
  get now(): number {
    return this.#now;
  }

  /** The number of keys in memory, those included that have expired and were not looked up since. */
  get size(): number {
    return this.#entries.size;
  }

  /** Reads the clock at the begin of a script. */
  tick(): void {
    this.#now = this.clock.wall();
  }

  /** @throws RefusedCommand if the key has a value of another type. */
  get<Type extends keyof Contents>(type: Type, key: string): Contents[Type] | undefined {
    const entry = this.#live(key);
    if (entry && entry.type !== type) {
      throw new RefusedCommand('WRONGTYPE Operation against a key holding the wrong kind of value');
    }
    return entry?.value as Contents[Type] | undefined;
  }

  /** As {@link get}; creates an empty value for a missing key. */
  make<Type extends keyof Contents>(type: Type, key: string): Contents[Type] {
    const found = this.get(type, key);
    if (found !== undefined) return found;
    const value = MADE[type]();
    this.set(key, { type, value, endsAt: Infinity });
    return value;
  }

  /** Stores a value. Keys that have expired are dropped whenever the number of keys has doubled, so they cost no more than the others. */
  set(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#many) return;
    for (const each of this.#entries.keys()) this.#live(each);
    this.#many = Math.max(FEW, 2 * this.#entries.size);
  }

  delete(key: string): boolean {
    return this.#live(key) !== undefined && this.#entries.delete(key);
  }

  /** Moves a value to another key, with its expiry. */
  rename(from: string, to: string): void {
    this.set(to, this.#live(from)!);
    this.#entries.delete(from);
  }

  clear(): void {
    this.#entries.clear();
  }

  typeOf(key: string): string | undefined {
    return this.#live(key)?.type;
  }

  /** When a key expires; undefined for a missing key. */
  endOf(key: string): number | undefined {
    return this.#live(key)?.endsAt;
  }

  /** Sets the expiry of a key; a time that has come deletes it. */
  end(key: string, endsAt: number): void {
    const entry = this.#live(key);
    if (entry) entry.endsAt = endsAt;
    if (endsAt <= this.#now) this.#entries.delete(key);
  }

  names(): string[] {
    this.tick();
    return [...this.#entries.keys()].filter((key) => this.#live(key));
  }

  #live(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || Math.floor(this.#now) <= entry.endsAt) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

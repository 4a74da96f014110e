import type { Clock } from '../engine/options/index.js';
import { SortedSet } from './sorted-set.js';

/** What stands at a key, by its type. */
export interface Contents {
  string: string;
  hash: Map<string, string>;
  list: string[];
  zset: SortedSet;
}

interface Entry {
  readonly type: string;
  readonly value: unknown;
  /** Ms since the epoch; Infinity: never. */
  endsAt: number;
}

/** What Redis answers a command that it refuses. */
export class RefusedCommand extends Error {
  override readonly name = 'ReplyError'; // as ioredis calls what a server answers
}

const MADE: { readonly [Type in keyof Contents]: () => Contents[Type] } = {
  string: () => '',
  hash: () => new Map(),
  list: () => [],
  zset: () => new SortedSet(),
};

/** The keys of a server, each with a value of one type, and with the moment at which it ends. */
export class Keyspace {
  readonly #entries = new Map<string, Entry>();
  #now = 0;

  constructor(private readonly clock: Clock) {}

  /** Ms since the epoch, the same one for a whole script. */
  get now(): number {
    return this.#now;
  }

  /** A script begins. */
  tick(): void {
    this.#now = this.clock.wall();
  }

  /** @throws RefusedCommand where a value of another type stands. */
  get<Type extends keyof Contents>(type: Type, key: string): Contents[Type] | undefined {
    const entry = this.#live(key);
    if (entry && entry.type !== type) {
      throw new RefusedCommand('WRONGTYPE Operation against a key holding the wrong kind of value');
    }
    return entry?.value as Contents[Type] | undefined;
  }

  /** The same; a new one where nothing stands. */
  make<Type extends keyof Contents>(type: Type, key: string): Contents[Type] {
    const found = this.get(type, key);
    if (found !== undefined) return found;
    const value = MADE[type]();
    this.set(key, { type, value, endsAt: Infinity });
    return value;
  }

  set(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
  }

  delete(key: string): boolean {
    return this.#live(key) !== undefined && this.#entries.delete(key);
  }

  /** Moves what stands at a key, with its end. */
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

  /** When a key ends; undefined if there is none. */
  endOf(key: string): number | undefined {
    return this.#live(key)?.endsAt;
  }

  /** A key that ends now is gone. */
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

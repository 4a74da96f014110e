/** How many insertions beyond twice its size a table takes before it is replaced. */
const ROOM = 32;

/**
 * A Map for entries that come and go all the time. V8 links each table that a Map has outgrown to the next one, with its
 * old contents. Once one of them is in the old generation, all later ones live until the next full collection: at 256 locks
 * at once, a third of all allocations. So a ChurnMap begins a new Map instead.
 */
export class ChurnMap<Value, Key = string> {
  #entries = new Map<Key, Value>();
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    if (this.#added > 2 * this.#entries.size + ROOM) {
      this.#entries = new Map(this.#entries);
      this.#added = 0;
    }
    this.#entries.set(key, value);
    this.#added += 1;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }
}

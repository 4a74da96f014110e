/** How many more entries than it holds may have come and gone. */
const ROOM = 32;

/**
 * A Map whose entries come and go all the time. V8 keeps every table that a Map has outgrown linked to the next, with
 * what stood in it: once one of them is old, all that comes after it lives until the next full collection (measured at
 * 256 locks at once: a third of all that was allocated). So this one begins a new Map instead.
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

/** The most values that are kept. */
const MOST = 1_000;

/** A cache of values that are made from their names. A full cache begins anew. */
export class BoundedCache<Value> {
  #values = new Map<string, Value>();

  constructor(private readonly make: (name: string) => Value) {}

  get(name: string): Value {
    let value = this.#values.get(name);
    if (value === undefined) {
      if (this.#values.size >= MOST) this.#values = new Map();
      value = this.make(name);
      this.#values.set(name, value);
    }
    return value;
  }
}

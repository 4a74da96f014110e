/** How many values are kept. */
const MOST = 1_000;

/** Values made of their names, kept for names that come again. A full cache begins anew. */
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

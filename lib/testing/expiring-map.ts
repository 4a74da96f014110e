/** Values that end at a moment of the server's clock, in ms, as Redis' keys do. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, { value: Value; expiresAt: number }>();

  constructor(private readonly now: () => number) {}

  get(key: string): Value | undefined {
    return this.#live(key)?.value;
  }

  /** For `ttl` ms; `Infinity`: until it is deleted. */
  set(key: string, value: Value, ttl: number): void {
    this.#entries.set(key, { value, expiresAt: this.now() + ttl });
  }

  /** From now on; nothing if there is no such key. */
  expire(key: string, ttl: number): void {
    const entry = this.#live(key);
    if (entry) entry.expiresAt = this.now() + ttl;
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** What is left in ms, as PTTL says it: -2 if there is no such key, -1 if it never ends. */
  ttl(key: string): number {
    const entry = this.#live(key);
    if (!entry) return -2;
    return entry.expiresAt === Infinity ? -1 : Math.ceil(entry.expiresAt - this.now());
  }

  keys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.#live(key));
  }

  #live(key: string): { value: Value; expiresAt: number } | undefined {
    const entry = this.#entries.get(key);
    if (!entry || this.now() <= entry.expiresAt) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

import { setTimeout } from 'node:timers/promises';

/** What the replicas share and must not overload. Counts how many ask at a time. */
export class Database {
  /** The most that asked at a time, by tenant. */
  readonly most = new Map<string, number>();
  readonly #asking = new Map<string, number>();

  async sumUp(tenant: string): Promise<string> {
    const asking = (this.#asking.get(tenant) ?? 0) + 1;
    this.#asking.set(tenant, asking);
    this.most.set(tenant, Math.max(this.most.get(tenant) ?? 0, asking));
    await setTimeout(20); // a query that takes long
    this.#asking.set(tenant, this.#asking.get(tenant)! - 1);
    return `report of ${tenant}`;
  }
}

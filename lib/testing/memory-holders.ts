import { MARKERS, modeAt } from '../locks/holder.js';
import { isReader, type Share } from '../options/index.js';
import type { MemoryServer, MemoryLease } from './memory-server.js';

/** Who holds one lock: one alone, or several together, each until its own lease ends. */
export class MemoryHolders {
  constructor(
    private readonly server: MemoryServer,
    private readonly name: string,
  ) {}

  /** Who holds it alone, or the marker of several; undefined if it is free, and for values of other types. */
  get current(): string | undefined {
    return this.server.values.get(this.name)?.text;
  }

  /** Undefined while nobody or one alone holds it. */
  get mode(): 'shared' | 'permits' | undefined {
    return modeAt(this.current);
  }

  /** Those who hold it together, each with what is left of its lease. */
  get together(): { holder: string; count: number; remaining: number }[] {
    if (!this.mode) return [];
    const now = this.#now();
    return [...this.#leases()]
      .map(([holder, { ends, count }]) => ({ holder, count, remaining: ends - now }))
      .filter(({ remaining }) => remaining > 0)
      .sort((a, b) => a.remaining - b.remaining || (a.holder < b.holder ? -1 : 1));
  }

  /** What is left of a holder's lease; undefined if it is over or never was. */
  left(holder: string, share: Share | undefined): number | undefined {
    if (!share) return this.current === holder ? this.server.values.ttl(this.name) : undefined;
    if (this.current !== markerOf(share)) return undefined;
    const left = (this.#leases().get(holder)?.ends ?? 0) - this.#now();
    return left > 0 ? left : undefined;
  }

  /** Whether one more may hold it beside those who do. */
  fits(share: Share | undefined): boolean {
    const { current } = this;
    if (current === undefined) return true;
    if (!share || current !== markerOf(share)) return false;
    const held = this.together.reduce((sum, { count }) => sum + count, 0);
    return held + share.count <= share.permits;
  }

  hold(holder: string, share: Share | undefined, lease: number): void {
    const { values } = this.server;
    if (!share) return values.set(this.name, { type: 'string', text: holder }, lease);
    const leases = this.current === undefined ? new Map<string, MemoryLease>() : this.#leases();
    leases.set(holder, { ends: this.#now() + lease, count: share.count });
    this.#settle(leases, markerOf(share));
  }

  letGo(holder: string, share: Share | undefined): void {
    if (!share) return void this.server.values.delete(this.name);
    const leases = this.#leases();
    leases.delete(holder);
    this.#settle(leases, markerOf(share));
  }

  /** Never shortens. */
  extend(holder: string, share: Share | undefined, lease: number): void {
    if (!share) {
      if (this.server.values.ttl(this.name) < lease) this.server.values.expire(this.name, lease);
    } else if (this.left(holder, share)! < lease) {
      this.hold(holder, share, lease);
    }
  }

  clear(): void {
    this.server.values.delete(this.name);
    this.server.holders.delete(this.name);
  }

  /** The marker lasts as long as the longest lease of its holders, or goes with the last of them. */
  #settle(leases: Map<string, MemoryLease>, marker: string): void {
    let longest = 0;
    for (const { ends } of leases.values()) longest = Math.max(longest, ends);
    const left = longest - this.#now();
    if (left <= 0) return this.clear();
    this.server.values.set(this.name, { type: 'string', text: marker }, left);
    this.server.holders.set(this.name, leases, left);
  }

  #leases(): Map<string, MemoryLease> {
    return this.server.holders.get(this.name) ?? new Map<string, MemoryLease>();
  }

  #now(): number {
    return Math.floor(this.server.clock.wall());
  }
}

function markerOf(share: Share): string {
  return MARKERS[modeOf(share)];
}

export function modeOf(share: Share): 'shared' | 'permits' {
  return isReader(share) ? 'shared' : 'permits';
}

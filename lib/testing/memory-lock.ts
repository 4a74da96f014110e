import { ForeignLockError } from '../errors/index.js';
import { heldAlone, MARKERS, modeAt, processOf, valueOf } from '../locks/holder.js';
import type { Extended, Grant, Lost } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { isReader, READER, type Share } from '../options/index.js';
import { FENCE_LIFE, TOKEN_KNOWN, TOKEN_LEAD, VERSION_LIFE } from '../protocol/constants.js';
import type { MemoryServer, SharedLease } from './memory-server.js';

/** What a grant brings: the first token, and how many. */
export type Tokens = Pick<Grant, 'fencingToken' | 'tokens'>;

const NO_TOKENS: Tokens = { fencingToken: undefined, tokens: 0 };
/** Where the server has the last token of all locks. */
const FENCE = 'fence';

/** One lock of the server: who holds it, one alone or several together, each until its own lease ends; and its tokens. */
export class MemoryLock {
  constructor(
    private readonly server: MemoryServer,
    private readonly name: string,
  ) {}

  /** Who holds it alone, or the marker of several; undefined if it is free. */
  get current(): string | undefined {
    return this.server.values.get(this.name)?.text;
  }

  /** Undefined while nobody or one alone holds it. */
  get mode(): 'shared' | 'permits' | undefined {
    return modeAt(this.current);
  }

  /** What is left of the longest lease, as PTTL says it. */
  get remaining(): number {
    return this.server.values.ttl(this.name);
  }

  /** Of a lock that is not the asker's. */
  get whereabouts(): Lost {
    return this.current === undefined ? 'free' : 'taken';
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

  /** Which holder has it, or which together; undefined if it is free. */
  get sight(): string | undefined {
    const { current } = this;
    return current && [current, ...this.together.map(({ holder }) => holder).sort()].join(' ');
  }

  /** The last token, of whatever lock. */
  get lastToken(): number | undefined {
    return this.server.fences.get(FENCE);
  }

  /** What is left of a holder's lease; undefined if it is over or never was. */
  left({ holder, share }: Pick<LockRequest, 'holder' | 'share'>): number | undefined {
    const { current } = this;
    if (!share) return heldAlone(current ?? '').holder === holder ? this.remaining : undefined;
    if (current !== markerOf(share)) return undefined;
    const left = (this.#leases().get(holder)?.ends ?? 0) - this.#now();
    return left > 0 ? left : undefined;
  }

  isHeldBy(request: Pick<LockRequest, 'holder' | 'share'>): boolean {
    return this.left(request) !== undefined;
  }

  /** @throws ForeignLockError if what stands there is no text. */
  refuseOtherType(key: string): void {
    const { type = 'string' } = this.server.values.get(this.name) ?? {};
    if (type !== 'string') throw new ForeignLockError(key, type);
  }

  /** @throws ForeignLockError if what stands there can be neither shared nor waited for. */
  refuseForeign(key: string, share: Share | undefined): void {
    this.refuseOtherType(key);
    const { current, mode } = this;
    if (current === undefined) return;
    const ofPermits = share !== undefined && modeOf(share) === 'permits';
    if (mode === 'permits') {
      if (!ofPermits) throw new ForeignLockError(key, 'semaphore');
    } else if (ofPermits && (mode === 'shared' || processOf(current))) {
      throw new ForeignLockError(key, 'lock');
    }
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
    const leases = this.current === undefined ? new Map<string, SharedLease>() : this.#leases();
    leases.set(holder, { ends: this.#now() + lease, count: share.count });
    this.#settle(leases, markerOf(share));
  }

  letGo({ holder, share }: Pick<LockRequest, 'holder' | 'share'>): void {
    if (!share) return void this.server.values.delete(this.name);
    const leases = this.#leases();
    leases.delete(holder);
    this.#settle(leases, markerOf(share));
  }

  /** Lengthens a lease that is still its holder's, never shortens it; what is left of it, or where it went. */
  extend(request: LockRequest): Extended {
    const { holder, ttl, share } = request;
    const left = this.left(request);
    if (left === undefined) {
      return share && this.mode === modeOf(share) ? 'free' : this.whereabouts;
    }
    if (left < ttl && share) this.hold(holder, share, ttl);
    else if (left < ttl) this.server.values.expire(this.name, ttl);
    if (isReader(share)) this.server.versions.expire(this.name, this.remaining + VERSION_LIFE);
    return this.left(request)!;
  }

  /** Puts another holder in the place of the exclusive one; what is left of the lease, or where it went. */
  transfer({ holder }: LockRequest, successor: LockRequest): Extended {
    const left = this.left({ holder });
    if (left !== undefined) {
      const { firstToken } = heldAlone(this.current!);
      this.hold(valueOf(successor.holder, firstToken), undefined, Math.max(left, 1));
    }
    const ttl = left === undefined ? 0 : successor.ttl;
    return this.extend({ ...successor, ttl, share: undefined });
  }

  clear(): void {
    this.server.values.delete(this.name);
    this.server.holders.delete(this.name);
  }

  /** Makes somebody a holder, and says with which tokens. */
  grant(request: LockRequest, lease: number): Tokens {
    const { holder, share, tokenBlock } = request;
    if (share) {
      this.hold(holder, share, lease);
      return this.#tokensOfShare(request);
    }
    const tokens = tokenBlock > 0 ? this.#mint(tokenBlock) : NO_TOKENS;
    this.hold(valueOf(holder, tokens.fencingToken), undefined, lease);
    if (tokenBlock > 0) this.server.versions.delete(this.name);
    return tokens;
  }

  /** Those of a holder that asks again. */
  tokensOf(request: LockRequest): Tokens {
    if (request.share) return this.#tokensOfShare(request);
    const { firstToken } = heldAlone(this.current!);
    return firstToken === undefined ? NO_TOKENS : { fencingToken: firstToken, tokens: 1 };
  }

  /** Of readers the version, of a permit one of its own. */
  #tokensOfShare({ holder, tokenBlock, share }: LockRequest): Tokens {
    if (tokenBlock === 0) return NO_TOKENS;
    if (isReader(share)) return { fencingToken: this.#plantVersion(), tokens: 1 };
    const { permitTokens, versions } = this.server;
    const who = `${this.name} ${holder}`;
    const fencingToken = permitTokens.get(who) ?? this.#mint(1).fencingToken;
    permitTokens.set(who, fencingToken, TOKEN_KNOWN);
    versions.delete(this.name);
    return { fencingToken, tokens: 1 };
  }

  /**
   * The version of what it guards, as stamp.lua tells it; undefined while somebody holds it alone.
   * @throws ForeignLockError if something else stands there.
   */
  version(key: string): number | undefined {
    this.refuseForeign(key, READER);
    const { current, mode } = this;
    if (current !== undefined && current !== MARKERS.kept && !mode) return undefined;
    return this.#plantVersion();
  }

  /** Lives a minute beyond the longest lease of readers. */
  setVersion(version: number): void {
    const { versions } = this.server;
    versions.set(this.name, version, Math.max(0, this.remaining) + VERSION_LIFE);
  }

  #plantVersion(): number {
    const version = this.server.versions.get(this.name) ?? this.#mint(1).fencingToken;
    this.setVersion(version);
    return version;
  }

  /** The next fencing tokens: above every earlier one, also after the server lost them. */
  #mint(wanted: number): { fencingToken: number; tokens: number } {
    const { server } = this;
    const now = server.now();
    const last = server.fences.get(FENCE) ?? 0;
    const room = Math.max(1, now + TOKEN_LEAD - last);
    const tokens = last < now ? wanted : Math.min(wanted, room);
    const first = Math.max(last + 1, now);
    const lead = Math.ceil((first + tokens - 1 - now) / 1_000);
    server.fences.set(FENCE, first + tokens - 1, FENCE_LIFE + lead);
    return { fencingToken: first, tokens };
  }

  /** The marker lasts as long as the longest lease of its holders, or goes with the last of them. */
  #settle(leases: Map<string, SharedLease>, marker: string): void {
    const longest = Math.max(0, ...[...leases.values()].map(({ ends }) => ends));
    const left = longest - this.#now();
    if (left <= 0) return this.clear();
    this.server.values.set(this.name, { type: 'string', text: marker }, left);
    this.server.holders.set(this.name, leases, left);
  }

  #leases(): Map<string, SharedLease> {
    return this.server.holders.get(this.name) ?? new Map<string, SharedLease>();
  }

  #now(): number {
    return Math.floor(this.server.clock.wall());
  }
}

function markerOf(share: Share): string {
  return MARKERS[modeOf(share)];
}

function modeOf(share: Share): 'shared' | 'permits' {
  return isReader(share) ? 'shared' : 'permits';
}

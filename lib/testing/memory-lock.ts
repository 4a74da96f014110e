import { ForeignLockError } from '../errors/index.js';
import { noDowngrade, noHandOver } from '../locks/dialects/refusals.js';
import { MARKERS } from '../locks/holder.js';
import { lockId, type LockRequest } from '../locks/lock-request.js';
import { entryOf } from '../locks/entry.js';
import type {
  Answer,
  Extension,
  Grant,
  LockStrategy,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../locks/lock-store.js';
import { type DialectSettings, type Moment, momentOf, READER } from '../options/index.js';
import { foreignType } from './foreign-type.js';
import { type MemoryConnection, tooLate } from './memory-connection.js';
import type { MemoryServer, Place } from './memory-server.js';
import { MemoryConditions } from './memory-conditions.js';
import { extension } from './memory-extension.js';
import { MemoryHolders } from './memory-holders.js';
import { sightOf } from './memory-sight.js';
import { transfer } from './memory-transfer.js';
import { versionOf } from './memory-version.js';
import { fencingTokens } from './mint-fencing-tokens.js';
import { WaitingLine } from './waiting-line.js';

/**
 * The lock in memory, in all its modes, step for step what the Lua scripts in locks/ do. Not re-entrant
 * by itself. A lock in another service's format is one of its own, apart from ours of that name, and nobody else is there; what
 * is refused of it on Redis is refused here. Waiters are served in the order in which they queued, by hand-off; a crash costs the rest
 * of the lease, a crashed waiter at most 3 s.
 */
export class MemoryLock implements LockStrategy {
  readonly #server: MemoryServer;
  readonly #conditions: MemoryConditions;

  constructor(
    protected readonly connection: MemoryConnection,
    protected readonly prefix: string,
    readonly processId: string,
    private readonly waitersPerKey: number,
  ) {
    this.#server = connection.server;
    this.#conditions = new MemoryConditions(connection, prefix, processId, waitersPerKey);
  }

  strategy(): LockStrategy {
    return this;
  }

  acquire(request: LockRequest): Promise<Answer> {
    if (request.condition) return this.#conditions.acquire(request);
    const sent = momentOf(this.connection.clock);
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(request.key, () => {
      if (this.#server.clock.wall() > notAfter) return { kind: 'late' };
      const name = this.#name(request);
      const gaveBack = request.former !== undefined && this.#isHeldBy(name, request.former);
      if (gaveBack) this.#server.values.delete(name);
      return { ...this.#acquire(request, sent, gaveBack), gaveBack };
    });
  }

  release(
    request: LockRequest,
    keep: number,
    served: readonly LockRequest[] = [],
  ): Promise<boolean> {
    return this.connection.send(request.key, () => {
      const { holder, share } = request;
      const name = this.#name(request);
      for (const place of served) this.#line(name).leave(entryOf(place));
      if (!this.#isHeldBy(name, request)) return false;
      const holders = this.#holders(name);
      const before = this.#server.values.ttl(name);
      if (keep > 0) holders.hold(share ? `kept/${holder}` : MARKERS.kept, share, Math.ceil(keep));
      if (keep === 0 || share) holders.letGo(holder, share);
      const left = this.#server.values.ttl(name);
      const [first] = this.#line(name).places;
      if (left > 0 && (left < before || !share))
        this.#server.inbox(first?.process ?? '')?.kept(name, left);
      this.#line(name).grantNext(undefined, holder.split('/')[0]);
      return true;
    });
  }

  leave(request: LockRequest, served: readonly LockRequest[] = []): Promise<boolean> {
    if (request.condition) return this.#conditions.leave(request);
    return this.connection.send(request.key, () => {
      const name = this.#name(request);
      const mine = this.#isHeldBy(name, request);
      for (const place of [request, ...served]) this.#line(name).leave(entryOf(place));
      if (mine) this.#holders(name).letGo(request.holder, request.share);
      this.#line(name).grantNext();
      return mine;
    });
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return [[...requests.keys()]];
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    const sent = momentOf(this.connection.clock);
    const key = requests.length === 1 ? requests[0]!.key : undefined;
    return this.connection.send(key, () => ({
      sent,
      remaining: requests.map((request) => extension(this.#server, this.#name(request), request)),
    }));
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    const name = this.#name({ key, dialect });
    return this.connection.send(key, () => sightOf(this.#server, name, places));
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return this.connection.send(key, () => {
      const name = this.#name({ key, dialect });
      const value = this.#server.values.get(name);
      if (!value) return false;
      if (value.type !== 'string') throw new ForeignLockError(key, value.type);
      const holders = this.#holders(name);
      const forced = holders.mode ? holders.together.map(({ holder }) => holder) : [value.text];
      holders.clear();
      this.#line(name).grantNext();
      for (const holder of forced) this.#server.inbox(holder.split('/')[0]!)?.forced(holder);
      return true;
    });
  }

  async downgrade(request: LockRequest): Promise<boolean> {
    if (request.dialect) throw noDowngrade(request.dialect);
    return this.connection.send(request.key, () => {
      const name = this.#name(request);
      if (this.#isHeldBy(name, { ...request, share: READER })) return true;
      if (!this.#isHeldBy(name, { ...request, share: undefined })) return false;
      const left = this.#server.values.ttl(name);
      this.#server.values.delete(name);
      this.#holders(name).hold(request.holder, READER, left);
      this.#line(name).grantNext();
      return true;
    });
  }

  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    if (request.dialect) throw noHandOver(request.dialect);
    const sent = momentOf(this.connection.clock);
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(request.key, () => {
      if (this.#server.clock.wall() > notAfter) throw tooLate(request.key);
      return { sent, remaining: transfer(this.#server, this.#name(request), request, successor) };
    });
  }

  signal(request: LockRequest, condition: string, most: number): Promise<Signalled | Lost> {
    return this.#conditions.signal(request, condition, most);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.connection.send(key, () => versionOf(this.#server, this.#name({ key }), key));
  }

  #acquire(request: LockRequest, sent: Moment, gaveBack: boolean): Answer {
    const { values, queues, fences } = this.#server;
    const { key, holder, share, tokenBlock } = request;
    const name = this.#name(request);
    const line = this.#line(name);
    const holders = this.#holders(name);
    const held = (remaining: number, token?: number): Grant => ({
      kind: 'held',
      sent,
      remaining,
      ...(token !== undefined && tokenBlock > 0
        ? { fencingToken: token, tokens: 1 }
        : fencingTokens(this.#server, name, request)),
    });
    const take = (): Grant => {
      holders.hold(holder, share, request.ttl);
      return held(request.ttl);
    };
    const isNext = (): boolean => !queues.has(name) && holders.fits(share);

    const foreign = foreignType(values.get(name), share);
    if (foreign) throw new ForeignLockError(key, foreign);
    const left = holders.left(holder, share);
    if (left !== undefined) return held(left, share ? undefined : fences.get(name));
    if (isNext()) return take();
    if (!request.queue) {
      line.grantNext();
      return isNext() ? take() : { kind: 'busy' };
    }

    const text = entryOf(request);
    const known = line.find(text);
    const full = !gaveBack && line.places.length >= this.waitersPerKey;
    if (!known && full) {
      line.grantNext(); // the dead make room
      return { kind: 'full' };
    }
    const place = known ?? line.join(this.#place(request, text), arrivalOf(request));
    line.saw(this.processId);
    if (line.grantNext(text)) return held(request.ttl);
    return {
      kind: 'queued',
      remaining: holders.mode === 'permits' ? holders.together[0]!.remaining : values.ttl(name),
      enqueuedAt: String(place.arrival),
      rank: line.places.findIndex((other) => other.text === text),
      requeued: !known && arrivalOf(request) !== undefined,
    };
  }

  #isHeldBy(name: string, { holder, share }: LockRequest): boolean {
    return this.#holders(name).left(holder, share) !== undefined;
  }

  #place({ holder, ttl, tokenBlock, share }: LockRequest, text: string): Omit<Place, 'arrival'> {
    return {
      text,
      holder,
      process: this.processId,
      ttl,
      tokens: tokenBlock,
      share,
      condition: undefined,
    };
  }

  #holders(name: string): MemoryHolders {
    return new MemoryHolders(this.#server, name);
  }

  #line(name: string): WaitingLine {
    return new WaitingLine(this.#server, name);
  }

  #name(lock: Pick<LockRequest, 'key' | 'dialect'>): string {
    return this.prefix + lockId(lock);
  }
}

function arrivalOf({ enqueuedAt }: LockRequest): number | undefined {
  return enqueuedAt === undefined ? undefined : Number(enqueuedAt);
}

import { ForeignLockError } from '../errors/index.js';
import { MARKERS } from '../locks/holder.js';
import { lockId } from '../locks/lock-id.js';
import { placeText } from '../locks/lock/place-text.js';
import type {
  Answer,
  Ask,
  Claim,
  Extension,
  Held,
  LockPrimitive,
  Sight,
  Transferred,
} from '../locks/lock-primitive.js';
import { type DialectSettings, type Moment, momentOf, READER } from '../options/index.js';
import { foreignType } from './foreign-type.js';
import { type MemoryConnection, tooLate } from './memory-connection.js';
import type { MemoryServer, Place } from './memory-server.js';
import { extension } from './memory-extension.js';
import { MemoryHolders } from './memory-holders.js';
import { sightOf } from './memory-sight.js';
import { transfer } from './memory-transfer.js';
import { versionOf } from './memory-version.js';
import { fencingTokens } from './mint-fencing-tokens.js';
import { WaitingLine } from './waiting-line.js';

/**
 * The lock in memory, in all its modes, step for step what the Lua scripts in locks/ do. Not re-entrant
 * by itself; waiters are served in the order in which they queued, by hand-off; a crash costs the rest
 * of the lease, a crashed waiter at most 3 s.
 */
export class MemoryLock implements Omit<LockPrimitive, 'signal'> {
  readonly #server: MemoryServer;

  constructor(
    private readonly connection: MemoryConnection,
    private readonly prefix: string,
    private readonly processId: string,
    private readonly waitersPerKey: number,
  ) {
    this.#server = connection.server;
  }

  acquire(ask: Ask): Promise<Answer> {
    const sent = momentOf(this.connection.clock);
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(ask.key, () => {
      if (this.#server.clock.wall() > notAfter) return { kind: 'late' };
      const name = this.#name(ask);
      const gaveBack = ask.former !== undefined && this.#isHeldBy(name, ask.former);
      if (gaveBack) this.#server.values.delete(name);
      return { ...this.#acquire(ask, sent, gaveBack), gaveBack };
    });
  }

  release(claim: Claim, keep: number, passed: readonly Claim[] = []): Promise<boolean> {
    return this.connection.send(claim.key, () => {
      const { holder, share } = claim;
      const name = this.#name(claim);
      for (const place of passed) this.#line(name).leave(placeText(place));
      if (!this.#isHeldBy(name, claim)) return false;
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

  leave(claim: Claim, passed: readonly Claim[] = []): Promise<boolean> {
    return this.connection.send(claim.key, () => {
      const name = this.#name(claim);
      const mine = this.#isHeldBy(name, claim);
      for (const place of [claim, ...passed]) this.#line(name).leave(placeText(place));
      if (mine) this.#holders(name).letGo(claim.holder, claim.share);
      this.#line(name).grantNext();
      return mine;
    });
  }

  batches(claims: readonly Claim[]): number[][] {
    return [[...claims.keys()]];
  }

  extend(claims: readonly Claim[]): Promise<Extension> {
    const sent = momentOf(this.connection.clock);
    const key = claims.length === 1 ? claims[0]!.key : undefined;
    return this.connection.send(key, () => ({
      sent,
      remaining: claims.map((claim) => extension(this.#server, this.#name(claim), claim)),
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
      for (const holder of forced.filter((id) => !id.includes('#')))
        this.#server.inbox(holder.split('/')[0]!)?.forced(holder);
      return true;
    });
  }

  downgrade(claim: Claim): Promise<boolean> {
    return this.connection.send(claim.key, () => {
      const name = this.#name(claim);
      if (this.#isHeldBy(name, { ...claim, share: READER })) return true;
      if (!this.#isHeldBy(name, { ...claim, share: undefined })) return false;
      const left = this.#server.values.ttl(name);
      this.#server.values.delete(name);
      this.#holders(name).hold(claim.holder, READER, left);
      this.#line(name).grantNext();
      return true;
    });
  }

  transfer(claim: Claim, heir: Claim): Promise<Transferred> {
    const sent = momentOf(this.connection.clock);
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(claim.key, () => {
      if (this.#server.clock.wall() > notAfter) throw tooLate(claim.key);
      return { sent, remaining: transfer(this.#server, this.#name(claim), claim, heir) };
    });
  }

  stamp(key: string): Promise<number | undefined> {
    return this.connection.send(key, () => versionOf(this.#server, this.#name({ key }), key));
  }

  #acquire(ask: Ask, sent: Moment, gaveBack: boolean): Answer {
    const { values, queues, fences } = this.#server;
    const { key, holder, share, tokens } = ask;
    const name = this.#name(ask);
    const line = this.#line(name);
    const holders = this.#holders(name);
    const held = (remaining: number, token?: number): Held => ({
      kind: 'held',
      sent,
      remaining,
      ...(token !== undefined && tokens > 0
        ? { fencingToken: token, tokens: 1 }
        : fencingTokens(this.#server, name, ask)),
    });
    const take = (): Held => {
      holders.hold(holder, share, ask.ttl);
      return held(ask.ttl);
    };
    const isNext = (): boolean => !queues.has(name) && holders.fits(share);

    const foreign = foreignType(values.get(name), share);
    if (foreign) throw new ForeignLockError(key, foreign);
    const left = holders.left(holder, share);
    if (left !== undefined) return held(left, share ? undefined : fences.get(name));
    if (isNext()) return take();
    if (!ask.queue) {
      line.grantNext();
      return isNext() ? take() : { kind: 'busy' };
    }

    const text = placeText(ask);
    const known = line.find(text);
    const full = !gaveBack && line.places.length >= this.waitersPerKey;
    if (!known && full) {
      line.grantNext(); // the dead make room
      return { kind: 'full' };
    }
    const place = known ?? line.join(this.#place(ask, text), arrivalOf(ask));
    line.saw(this.processId);
    if (line.grantNext(text)) return held(ask.ttl);
    return {
      kind: 'queued',
      remaining: holders.mode === 'permits' ? holders.together[0]!.remaining : values.ttl(name),
      arrival: String(place.arrival),
      rank: line.places.findIndex((other) => other.text === text),
      rejoined: !known && arrivalOf(ask) !== undefined,
    };
  }

  #isHeldBy(name: string, { holder, share }: Claim): boolean {
    return this.#holders(name).left(holder, share) !== undefined;
  }

  #place({ holder, ttl, tokens, share }: Claim, text: string): Omit<Place, 'arrival'> {
    return { text, holder, process: this.processId, ttl, tokens, share, condition: undefined };
  }

  #holders(name: string): MemoryHolders {
    return new MemoryHolders(this.#server, name);
  }

  #line(name: string): WaitingLine {
    return new WaitingLine(this.#server, name);
  }

  #name(lock: Pick<Claim, 'key' | 'dialect'>): string {
    return this.prefix + lockId(lock);
  }
}

function arrivalOf({ arrival }: Ask): number | undefined {
  return arrival === undefined ? undefined : Number(arrival);
}

import { ForeignLockError } from '../errors/index.js';
import type {
  Answer,
  Ask,
  Claim,
  Extended,
  Held,
  LockPrimitive,
  Sight,
} from '../locks/lock-primitive.js';
import type { MemoryConnection } from './memory-connection.js';
import type { MemoryServer } from './memory-server.js';
import { mintFencingTokens, rememberedFor } from './mint-fencing-tokens.js';
import { WaitingLine } from './waiting-line.js';

/**
 * The exclusive lock in memory, step for step what the Lua scripts in locks/lock do. One holder at a
 * time, not re-entrant by itself; waiters are served in the order in which they queued, by hand-off;
 * a crash costs the rest of the lease, a crashed waiter at most 3 s.
 */
export class MemoryLock implements LockPrimitive {
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
    const sentAt = this.connection.clock.monotonic();
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(ask.key, () => {
      if (this.#server.clock.wall() > notAfter) return { kind: 'late' };
      const name = this.#name(ask.key);
      const gaveBack = ask.former !== undefined && this.#isHeldBy(name, ask.former.holder);
      if (gaveBack) this.#server.values.delete(name);
      return { ...this.#acquire(ask, sentAt, gaveBack), gaveBack };
    });
  }

  release(claim: Claim, keep: number): Promise<boolean> {
    return this.connection.send(claim.key, () => {
      const name = this.#name(claim.key);
      if (!this.#isHeldBy(name, claim.holder)) return false;
      if (keep > 0) {
        this.#server.values.set(name, { type: 'string', text: 'kept' }, Math.ceil(keep));
      } else {
        this.#server.values.delete(name);
        this.#line(name).grantNext();
      }
      return true;
    });
  }

  leave(claim: Claim): Promise<boolean> {
    return this.connection.send(claim.key, () => {
      const name = this.#name(claim.key);
      const mine = this.#isHeldBy(name, claim.holder);
      this.#line(name).leave(placeOf(claim));
      if (mine) this.#server.values.delete(name);
      if (!this.#server.values.has(name)) this.#line(name).grantNext();
      return mine;
    });
  }

  extend(claims: readonly Claim[]): Promise<{ sentAt: number; remaining: Extended[] }> {
    const sentAt = this.connection.clock.monotonic();
    const key = claims.length === 1 ? claims[0]!.key : undefined;
    return this.connection.send(key, () => ({
      sentAt,
      remaining: claims.map((claim) => this.#extend(claim)),
    }));
  }

  inspect(key: string, places: number): Promise<Sight> {
    return this.connection.send(key, () => {
      const name = this.#name(key);
      const value = this.#server.values.get(name);
      const waiting = this.#line(name).places;
      const now = this.#server.now();
      return {
        type: value?.type ?? 'none',
        holder: value?.type === 'string' ? value.text : '',
        remaining: this.#server.values.ttl(name),
        fencingToken: this.#server.fences.get(name),
        waiting: waiting.length,
        places: waiting
          .slice(0, places)
          .map(({ text, arrival }) => ({ place: text, age: (now - arrival) / 1_000 })),
        now: now / 1_000,
      };
    });
  }

  force(key: string): Promise<boolean> {
    return this.connection.send(key, () => {
      const name = this.#name(key);
      const value = this.#server.values.get(name);
      if (!value) return false;
      if (value.type !== 'string') throw new ForeignLockError(key, value.type);
      this.#server.values.delete(name);
      this.#line(name).grantNext();
      this.#server.inbox(value.text.split('/')[0]!)?.forced(value.text);
      return true;
    });
  }

  #acquire(ask: Ask, sentAt: number, gaveBack: boolean): Answer {
    const { values, queues, fences } = this.#server;
    const name = this.#name(ask.key);
    const line = this.#line(name);
    const take = (): Held => {
      values.set(name, { type: 'string', text: ask.holder }, ask.ttl);
      return held(ask.ttl);
    };
    const held = (remaining: number, token?: number): Held => ({
      kind: 'held',
      sentAt,
      remaining,
      ...(token !== undefined && ask.tokens > 0
        ? { fencingToken: token, tokens: 1 }
        : mintFencingTokens(this.#server, name, ask.tokens)),
    });

    const current = values.get(name);
    if (!current && !queues.has(name)) return take();
    if (current && current.type !== 'string') throw new ForeignLockError(ask.key, current.type);
    if (current?.text === ask.holder) return held(values.ttl(name), fences.get(name));
    if (!ask.queue) {
      const free = !current && !line.grantNext() && !queues.has(name);
      return free ? take() : { kind: 'busy' };
    }

    const text = placeOf(ask);
    const known = line.find(text);
    const full = !gaveBack && line.places.length >= this.waitersPerKey;
    if (!known && full) return { kind: 'full' };
    const place = known ?? line.join(this.#place(ask), arrivalOf(ask));
    line.saw(this.processId);
    if (!current && line.grantNext(text)?.text === text) return held(ask.ttl);
    return {
      kind: 'queued',
      remaining: values.ttl(name),
      arrival: String(place.arrival),
      rank: line.places.findIndex((other) => other.text === text),
      rejoined: !known && arrivalOf(ask) !== undefined,
    };
  }

  #extend({ key, holder, ttl }: Claim): Extended {
    const { values, fences } = this.#server;
    const name = this.#name(key);
    if (!values.has(name)) return 'free';
    if (!this.#isHeldBy(name, holder)) return 'taken';
    if (values.ttl(name) < ttl) values.expire(name, ttl);
    const token = fences.get(name);
    if (token !== undefined) fences.expire(name, rememberedFor(this.#server, token));
    return values.ttl(name);
  }

  #isHeldBy(name: string, holder: string): boolean {
    const value = this.#server.values.get(name);
    return value?.type === 'string' && value.text === holder;
  }

  #place(claim: Claim): {
    text: string;
    holder: string;
    process: string;
    ttl: number;
    tokens: number;
  } {
    const { holder, ttl, tokens } = claim;
    return { text: placeOf(claim), holder, process: this.processId, ttl, tokens };
  }

  #line(name: string): WaitingLine {
    return new WaitingLine(this.#server, name);
  }

  #name(key: string): string {
    return this.prefix + key;
  }
}

function placeOf({ holder, ttl, tokens }: Claim): string {
  return `${holder}/${ttl}/x${tokens}`;
}

function arrivalOf({ arrival }: Ask): number | undefined {
  return arrival === undefined ? undefined : Number(arrival);
}

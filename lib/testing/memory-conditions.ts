import { ForeignLockError } from '../errors/index.js';
import type { Answer, Grant, Lost, Signalled } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { conditionEntries, entryOf } from '../locks/entry.js';
import { type Moment, momentOf } from '../options/index.js';
import { AWAITING, AWAITS } from '../protocol/constants.js';
import type { MemoryConnection } from './memory-connection.js';
import { MemoryHolders } from './memory-holders.js';
import type { MemoryServer, Place } from './memory-server.js';
import { fencingTokens } from './mint-fencing-tokens.js';
import { WaitingLine } from './waiting-line.js';

/** Conditions of locks in memory, step for step what the Lua scripts in locks/condition do. */
export class MemoryConditions {
  readonly #server: MemoryServer;

  constructor(
    private readonly connection: MemoryConnection,
    private readonly prefix: string,
    private readonly processId: string,
    private readonly waitersPerKey: number,
  ) {
    this.#server = connection.server;
  }

  acquire(request: LockRequest): Promise<Answer> {
    const sent = momentOf(this.connection.clock);
    const notAfter = this.#server.clock.wall() + this.connection.timeout;
    return this.connection.send(request.key, () => {
      if (this.#server.clock.wall() > notAfter) return { kind: 'late' };
      return request.former ? this.#await(request, request.former) : this.#ask(request, sent);
    });
  }

  leave(request: LockRequest): Promise<boolean> {
    return this.connection.send(request.key, () => {
      const name = this.prefix + request.key;
      const line = new WaitingLine(this.#server, name);
      const entries = conditionEntries(request);
      line.stopAwaiting(entries.awaiting);
      line.leave(entryOf(request));
      const signalled = line.find(entries.signalled) !== undefined;
      line.leave(entries.signalled);
      const mine = this.#left(name, request.holder) !== undefined;
      if (mine) this.#server.values.delete(name);
      if (signalled || mine) line.signalNext(request.condition!.name);
      line.grantNext();
      return mine;
    });
  }

  /** All in one step. */
  signal({ key, holder }: LockRequest, condition: string, most: number): Promise<Signalled | Lost> {
    return this.connection.send(key, () => {
      const name = this.prefix + key;
      if (this.#left(name, holder) === undefined) return this.#whereIs(name);
      const line = new WaitingLine(this.#server, name);
      let woken = 0;
      while (woken < most && line.signalNext(condition)) woken += 1;
      return { woken };
    });
  }

  #await(request: LockRequest, former: LockRequest): Answer {
    const name = this.prefix + request.key;
    const line = new WaitingLine(this.#server, name);
    const text = conditionEntries(request).awaiting;
    let place = line.awaiting.find((each) => each.text === text);
    if (!place) {
      if (this.#left(name, former.holder) === undefined) {
        return { kind: this.#whereIs(name), gaveBack: false };
      }
      line.forgetDeadAwaiting();
      if (line.awaiting.length >= this.waitersPerKey) {
        return { kind: 'full', gaveBack: false };
      }
      this.#server.values.delete(name);
      place = line.await(this.#place(request, text, request.condition!.name));
    }
    line.saw(this.processId);
    line.grantNext();
    return { ...awaits(place), gaveBack: true };
  }

  #ask(request: LockRequest, sent: Moment): Answer {
    const { key, holder, ttl, tokenBlock, condition } = request;
    const name = this.prefix + key;
    const line = new WaitingLine(this.#server, name);
    const held = (remaining: number, signalled: boolean, token?: number): Grant => ({
      kind: 'held',
      sent,
      remaining,
      signalled,
      ...(token !== undefined && tokenBlock > 0
        ? { fencingToken: token, tokens: 1 }
        : fencingTokens(this.#server, name, { holder, tokenBlock: Math.min(tokenBlock, 1) })),
    });
    const value = this.#server.values.get(name);
    if (value && value.type !== 'string') throw new ForeignLockError(key, value.type);
    const left = this.#left(name, holder);
    if (left !== undefined) return held(left, true, this.#server.fences.get(name));

    const entries = { ...conditionEntries(request), over: entryOf(request) };
    const awaiting = line.awaiting.find((each) => each.text === entries.awaiting);
    if (awaiting && !condition!.over) {
      line.saw(this.processId);
      line.grantNext();
      return awaits(awaiting);
    }
    const isOver = awaiting !== undefined || line.find(entries.over) !== undefined;
    line.stopAwaiting(entries.awaiting);
    const text = isOver ? entries.over : entries.signalled;
    const known = line.find(text);
    const former = Number(request.enqueuedAt ?? AWAITING);
    const arrival = former < AWAITING ? former : undefined;
    const waitsFor = isOver ? undefined : condition!.name;
    const place = known ?? line.join(this.#place(request, text, waitsFor), arrival);
    line.saw(this.processId);
    if (line.grantNext(text)) return held(ttl, !isOver);
    return {
      kind: 'queued',
      remaining: this.#server.values.ttl(name),
      enqueuedAt: String(place.arrival),
      rank: line.places.findIndex((other) => other.text === text),
      requeued: !known && arrival !== undefined,
    };
  }

  #whereIs(name: string): Lost {
    return this.#server.values.has(name) ? 'taken' : 'free';
  }

  #left(name: string, holder: string): number | undefined {
    return new MemoryHolders(this.#server, name).left(holder, undefined);
  }

  #place(
    { holder, ttl, tokenBlock }: LockRequest,
    text: string,
    condition: string | undefined,
  ): Omit<Place, 'arrival'> {
    const process = this.processId;
    return { text, holder, process, ttl, tokens: tokenBlock, share: undefined, condition };
  }
}

/** The answer to who goes on awaiting. */
function awaits({ arrival }: Place): Answer {
  return {
    kind: 'queued',
    remaining: -1,
    enqueuedAt: String(arrival),
    rank: AWAITS,
    requeued: false,
  };
}

import { conditionEntries, entryOf } from '../locks/entry.js';
import type { Answer, Lost, Signalled } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Moment } from '../options/index.js';
import { AWAITING } from '../protocol/constants.js';
import type { Tokens } from './memory-lock.js';
import type { MemoryQueue } from './memory-queue.js';
import type { MemoryConnection } from './memory-server.js';

/** Conditions of locks in memory, step for step what the Lua scripts in locks/condition do. */
export class MemoryConditions {
  constructor(
    private readonly connection: MemoryConnection,
    private readonly queueOf: (lock: Pick<LockRequest, 'key'>) => MemoryQueue,
    private readonly waitersPerKey: number,
  ) {}

  acquire(request: LockRequest): Promise<Answer> {
    return this.connection.send<Answer>(
      request.key,
      (sent) => (request.former ? this.#await(request, request.former) : this.#ask(request, sent)),
      () => ({ kind: 'late' }),
    );
  }

  leave(request: LockRequest): Promise<boolean> {
    return this.connection.send(request.key, () => {
      const queue = this.queueOf(request);
      const { awaiting, signalled } = conditionEntries(request);
      const wasSignalled = queue.find(signalled) !== undefined;
      queue.leave(awaiting, entryOf(request), signalled);
      const { holder } = request; // whatever it was asked for as, it is held alone
      const mine = queue.lock.isHeldBy({ holder });
      if (mine) queue.lock.letGo({ holder });
      const { name, signalled: known } = request.condition!;
      if ((wasSignalled || mine) && known !== false) queue.signalNext(name);
      queue.grantNext();
      return mine;
    });
  }

  /** All in one step. */
  signal({ key, holder }: LockRequest, condition: string, most: number): Promise<Signalled | Lost> {
    return this.connection.send(key, () => {
      const queue = this.queueOf({ key });
      if (!queue.lock.isHeldBy({ holder })) return queue.lock.whereabouts;
      let woken = 0;
      while (woken < most && queue.signalNext(condition)) woken += 1;
      return { woken };
    });
  }

  #await(request: LockRequest, { holder }: LockRequest): Answer {
    const queue = this.queueOf(request);
    const text = conditionEntries(request).awaiting;
    let entry = queue.find(text);
    if (!entry) {
      const { lock } = queue;
      if (!lock.isHeldBy({ holder })) return { kind: lock.whereabouts, gaveBack: false };
      queue.forget(queue.deadAmong(queue.awaiting, request));
      if (queue.awaiting.length >= this.waitersPerKey) return { kind: 'full', gaveBack: false };
      lock.letGo({ holder });
      entry = queue.await({ ...request, share: undefined }, text);
    }
    queue.heartbeat(entry.process);
    queue.grantNext();
    return { ...queue.answer(entry, -1, false), gaveBack: true };
  }

  #ask(request: LockRequest, sent: Moment): Answer {
    const { key, holder, ttl, condition } = request;
    const queue = this.queueOf({ key });
    const { lock } = queue;
    lock.refuseOtherType(key);
    const left = lock.left({ holder });
    const held = (remaining: number, tokens: Tokens, signalled: boolean): Answer => ({
      kind: 'held',
      sent,
      remaining,
      ...tokens,
      signalled,
    });
    if (left !== undefined)
      return held(left, lock.tokensOf({ ...request, share: undefined }), true);

    const entries = conditionEntries(request);
    const awaiting = queue.find(entries.awaiting);
    if (awaiting && !condition!.over) {
      queue.heartbeat(awaiting.process);
      queue.grantNext();
      return queue.answer(awaiting, -1, false);
    }
    const over = entryOf(request);
    const signalled = !awaiting && !queue.find(over);
    queue.leave(entries.awaiting);
    const text = signalled ? entries.signalled : over;
    const known = queue.find(text);
    const former = Number(request.enqueuedAt ?? AWAITING);
    const before = former < AWAITING ? former : undefined;
    const asked = { ...request, share: undefined, condition: signalled ? condition : undefined };
    const entry = known ?? queue.join(asked, text, before);
    queue.heartbeat(entry.process);
    const granted = queue.grantNext(text);
    if (granted) return held(ttl, granted, signalled);
    return { ...queue.answer(entry, lock.remaining, !known && before !== undefined), signalled };
  }
}

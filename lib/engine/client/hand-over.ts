import { createHash, randomBytes } from 'node:crypto';
import {
  LeaseLostError,
  LockOptionsError,
  LockShutdownError,
  LockStoreError,
} from '../errors/index.js';
import { handedOverId, newHolderId } from '../locks/holder.js';
import type { Transferred } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type CallSettings, onAbort } from '../options/index.js';
import { HeldLease } from './held-lease.js';
import { Claim, isRetryable } from './claim.js';
import type { EntryContext } from './queue-entry.js';
import { pause, pauseAfter } from './timers.js';
import { validityOf } from '../locks/validity.js';

/** A lease on its way from one process to another; no code runs under it. */
export interface HandOver {
  /** The request under which the lock is held on the way. */
  readonly request: LockRequest;
  readonly fencingToken: number | undefined;
  /** The settings with which the lease goes on. */
  readonly call: CallSettings;
}

/** The rest of a bound that counts from the grant, in whole ms. */
function restOf(bound: number, since: number, now: number): number {
  return Math.max(0, Math.ceil(since + bound - now));
}

/** The fields of the text; `maxHold` and `name` are null when there is none. */
type Fields = [
  secret: string,
  process: string,
  key: string,
  ttl: number,
  fencingToken: number | null,
  renew: boolean,
  minHold: number,
  maxHold: number | null,
  name: string | null,
];

const PROCESS = /^[\w-]+\.\d+\.[\w-]{11}$/;

/**
 * The text with which another process goes on with the lease. The holder id on the way is a hash of the text: the id does
 * not reveal the text, and an altered text fits no lock.
 */
export function writeHandOver(
  { request, settings, since, fencingToken }: HeldLease,
  now: number,
): string {
  const { ttl, renew, minHold, maxHold, name } = settings;
  const fields: Fields = [
    randomBytes(16).toString('base64url'),
    request.holder.slice(0, request.holder.indexOf('/')),
    request.key,
    renew ? ttl : restOf(ttl, since, now),
    fencingToken ?? null,
    renew,
    restOf(minHold, since, now),
    maxHold === Infinity ? null : restOf(maxHold, since, now),
    name ?? null,
  ];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** @throws LockOptionsError unless {@link writeHandOver} made the text. */
export function readHandOver(text: string): HandOver {
  const fields = fieldsOf(text);
  if (!fields) throw new LockOptionsError('restore() takes the text that lease.handOver() gave.');
  const [, process, key, ttl, token, renew, minHold, maxHold, name] = fields;
  const id = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const fencing = token !== null;
  return {
    request: { key, holder: handedOverId(process, id, fencing), ttl, tokenBlock: fencing ? 1 : 0 },
    fencingToken: token ?? undefined,
    call: {
      ttl,
      wait: 0,
      maxWaiting: Infinity,
      renew,
      minHold,
      maxHold: maxHold ?? Infinity,
      fencing,
      reentrant: true,
      slowWait: Infinity,
      slowHold: Infinity,
      name: name ?? undefined,
      share: undefined,
      dialect: undefined,
    },
  };
}

function fieldsOf(text: unknown): Fields | undefined {
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || fields.length !== 9) return undefined;
  const [secret, process, key, ttl, token, renew, minHold, maxHold, name] = fields as unknown[];
  const isWritten =
    typeof secret === 'string' &&
    typeof process === 'string' &&
    PROCESS.test(process) &&
    typeof key === 'string' &&
    isTime(ttl) &&
    (token === null || Number.isSafeInteger(token)) &&
    typeof renew === 'boolean' &&
    isTime(minHold) &&
    (maxHold === null || isTime(maxHold)) &&
    (name === null || typeof name === 'string');
  return isWritten ? (fields as Fields) : undefined;
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Goes on with a lease that another process handed over, under a holder id of this process; once only. Repeats the request
 * for twice the command time-out while Redis does not answer. `shutdown` ends that; a lease that comes all the same is
 * given up.
 * @throws LeaseLostError if another caller restored the lease or its time is over; LockStoreError if Redis failed, which
 * may be tried again; LockShutdownError.
 */
export async function restore(
  { request, call, fencingToken }: HandOver,
  context: EntryContext,
  shutdown: AbortSignal,
): Promise<HeldLease> {
  const { store, settings, clock, cleanup } = context;
  const { key } = request;
  const own = { ...request, holder: newHolderId(store.processId, request.tokenBlock > 0) };
  const claim = new Claim(own, settings.commandTimeout, clock);
  const least = call.renew ? own : { ...own, ttl: 1 }; // an unrenewed lease keeps the time it has left
  const fail = (error: unknown): never => {
    cleanup.abandon(claim);
    throw error;
  };
  const patience = 2 * settings.commandTimeout;
  const giveUpAt = clock.monotonic() + patience;
  const isOver = (): boolean => shutdown.aborted || clock.monotonic() >= giveUpAt;
  const silence = `Lock "${key}" was not handed on within ${patience} ms.`;
  let lastFailure: unknown = new LockStoreError(silence, { key, outcome: 'unknown' });
  const transfer = async (): Promise<Transferred> => {
    for (let failures = 0; ; failures += 1) {
      const sentAt = claim.sent();
      try {
        const answer = await store.transfer(request, least);
        claim.answered();
        const { sent, remaining } = answer;
        const isSure =
          typeof remaining !== 'number' || validityOf({ sent, remaining }, clock) !== 'doubtful';
        if (isSure || isOver()) return answer; // else the machine slept meanwhile, and the next answer says the same
      } catch (error) {
        claim.failed(error, sentAt);
        lastFailure = error;
        if (!isRetryable(error)) throw error;
        await pause(pauseAfter(failures), clock, shutdown);
        if (isOver()) throw error;
      }
    }
  };
  const answer = new Promise<Transferred>((resolve, reject) => {
    const callOff = onAbort(shutdown, () => reject(new LockShutdownError(key)));
    const cancel = clock.after(patience, () => reject(lastFailure));
    transfer()
      .then(resolve, reject)
      .finally(() => {
        cancel();
        callOff();
      });
  });
  const { sent, remaining, renewIn } = await answer.catch(fail);
  if (typeof remaining !== 'number') {
    throw new LeaseLostError(key, remaining === 'taken' ? 'taken' : 'expired');
  }
  if (validityOf({ sent, remaining }, clock) === 'expired') {
    fail(new LeaseLostError(key, 'expired'));
  }
  const ttl = call.renew ? call.ttl : Math.min(call.ttl, remaining); // an unrenewed lease ends when it would have ended
  const grant = { kind: 'held', sent, remaining, fencingToken, tokens: 1, renewIn } as const;
  const { slowHold } = settings.call;
  return new HeldLease(claim, { ...call, ttl, slowHold }, grant, clock, undefined);
}

import { createHash, randomBytes } from 'node:crypto';
import { LockOptionsError } from '../errors/index.js';
import { holderId } from '../locks/holder.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { CallSettings } from '../options/index.js';
import type { HeldLock } from './held-lock.js';

/** The lease of a lock on its way from one process to another; nobody works under it. */
export interface HandOver {
  /** Under which the lock is held on the way. */
  readonly request: LockRequest;
  readonly fencingToken: number | undefined;
  /** How the lease goes on. */
  readonly call: CallSettings;
}

/** What is left of a bound that counts from the grant, in whole ms. */
function restOf(bound: number, since: number, now: number): number {
  return Math.max(0, Math.ceil(since + bound - now));
}

/** As it stands in a text; `maxHold` is null when there is none. */
type Words = [
  secret: string,
  process: string,
  key: string,
  ttl: number,
  fencingToken: number | null,
  renew: boolean,
  minHold: number,
  maxHold: number | null,
];

const PROCESS = /^[\w-]+\.\d+\.[\w-]{11}$/;

/**
 * The text with which another process goes on with what is held here. The holder id on the way is a hash of it:
 * neither says the other, and a text that was altered fits no lock.
 */
export function writeHandOver(
  { request, settings, since, fencingToken }: HeldLock,
  now: number,
): string {
  const { ttl, renew, minHold, maxHold } = settings;
  const words: Words = [
    randomBytes(16).toString('base64url'),
    request.holder.slice(0, request.holder.indexOf('/')),
    request.key,
    renew ? ttl : restOf(ttl, since, now),
    fencingToken ?? null,
    renew,
    restOf(minHold, since, now),
    maxHold === Infinity ? null : restOf(maxHold, since, now),
  ];
  return Buffer.from(JSON.stringify(words)).toString('base64url');
}

/** @throws LockOptionsError if the text is none that {@link writeHandOver} made. */
export function readHandOver(text: string): HandOver {
  const words = wordsOf(text);
  if (!words) throw new LockOptionsError('restore() takes the text that lease.handOver() gave.');
  const [, process, key, ttl, token, renew, minHold, maxHold] = words;
  const id = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const fencing = token !== null;
  return {
    request: { key, holder: holderId(process, id, fencing), ttl, tokens: fencing ? 1 : 0 },
    fencingToken: token ?? undefined,
    call: {
      ttl,
      wait: 0,
      renew,
      minHold,
      maxHold: maxHold ?? Infinity,
      fencing,
      reentrant: true,
      share: undefined,
      dialect: undefined,
    },
  };
}

function wordsOf(text: unknown): Words | undefined {
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text)) return undefined;
  let words: unknown;
  try {
    words = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(words) || words.length !== 8) return undefined;
  const [secret, process, key, ttl, token, renew, minHold, maxHold] = words as unknown[];
  const isWritten =
    typeof secret === 'string' &&
    typeof process === 'string' &&
    PROCESS.test(process) &&
    typeof key === 'string' &&
    isTime(ttl) &&
    (token === null || Number.isSafeInteger(token)) &&
    typeof renew === 'boolean' &&
    isTime(minHold) &&
    (maxHold === null || isTime(maxHold));
  return isWritten ? (words as Words) : undefined;
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

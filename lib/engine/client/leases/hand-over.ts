import { createHash, randomBytes } from 'node:crypto';
import { LockKeyError } from '../../errors/index.js';
import { handedOverId } from '../../locks/holder.js';
import type { LockRequest } from '../../locks/lock-request.js';
import {
  CALL_DEFAULTS,
  type CallSettings,
  isLabel,
  NATIVE,
  TTL_BOUNDS,
} from '../../options/index.js';
import type { HeldLease } from './held-lease.js';

/** A lease on its way from one process to another; no code runs under it. */
export interface HandOver {
  /** The request under which the lock is held on the way. */
  readonly request: LockRequest;
  readonly fencingToken: number | undefined;
  /** The settings with which the lease goes on. */
  readonly call: CallSettings;
}

/** How long the server keeps the lease on its way, in ms. One without renewal ends when it would have ended here. */
export function timeOnTheWay({ settings, ends }: HeldLease, now: number): number {
  return settings.renew ? settings.ttl : Math.max(1, Math.ceil(ends - now));
}

/** The rest of a bound that counts from the grant, in whole ms. */
function restOf(bound: number, since: number, now: number): number {
  return Math.max(0, Math.ceil(since + bound - now));
}

/** The beginning of a text. A text of an older version has neither this beginning nor labels, and is about one lock. */
const VERSION = 2;

/** One of the locks as it stands in a text; null stands for a field that the lock does not have. */
type Part = [
  process: string,
  key: string,
  ttl: number,
  fencingToken: number | null,
  renew: boolean,
  minHold: number,
  maxHold: number | null,
  name: string | null,
  label: string | null,
];

const PROCESS = /^[\w-]+\.\d+\.[\w-]{11}$/;

/**
 * The text with which another process goes on with the leases. The holder id on the way is a hash of the text: the id does
 * not reveal the text, and an altered text fits no lock.
 */
export function writeHandOver(heldLeases: readonly HeldLease[], now: number): string {
  const parts = heldLeases.map(({ request, settings, since, fencingToken }): Part => {
    const { ttl, renew, minHold, maxHold, name, label } = settings;
    return [
      request.holder.slice(0, request.holder.indexOf('/')),
      request.key,
      ttl,
      fencingToken ?? null,
      renew,
      restOf(minHold, since, now),
      maxHold === Infinity ? null : restOf(maxHold, since, now),
      name ?? null,
      label ?? null,
    ];
  });
  const fields = [VERSION, randomBytes(16).toString('base64url'), ...parts];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * The leases that a text hands over, in the order of their keys.
 * @throws LockKeyError if the text, which may come from a client, is none that {@link writeHandOver} made.
 */
export function readHandOver(text: string): readonly [HandOver, ...HandOver[]] {
  const parts = partsOf(text);
  if (!parts)
    throw new LockKeyError('restore() and discard() take the text that lease.handOver() gave.');
  const id = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const handOverOf = ([
    process,
    key,
    written,
    token,
    renew,
    minHold,
    maxHold,
    name,
    label,
  ]: Part): HandOver => {
    const ttl = Math.max(TTL_BOUNDS.min, written); // an older version wrote what was left of a lease without renewal
    const fencing = token !== null;
    const holder = handedOverId(process, id, fencing, label ?? undefined);
    return {
      request: { key, holder, ttl, tokenBlock: fencing ? 1 : 0, format: NATIVE },
      fencingToken: token ?? undefined,
      call: {
        ...CALL_DEFAULTS,
        ttl,
        wait: 0,
        renew,
        minHold,
        maxHold: maxHold ?? Infinity,
        fencing,
        name: name ?? undefined,
        label: label ?? undefined,
      },
    };
  };
  const [first, ...others] = parts.map(handOverOf);
  return [first!, ...others];
}

function partsOf(text: unknown): Part[] | undefined {
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields)) return undefined;
  const [version, secret, ...parts] = (
    typeof fields[0] === 'string' ? [VERSION, fields[0], [...fields.slice(1), null]] : fields
  ) as unknown[];
  const isWritten = version === VERSION && typeof secret === 'string' && parts.length > 0;
  return isWritten && parts.every(isPart) ? parts : undefined;
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part) || part.length !== 9) return false;
  const [process, key, ttl, token, renew, minHold, maxHold, name, label] = part as unknown[];
  return (
    typeof process === 'string' &&
    PROCESS.test(process) &&
    typeof key === 'string' &&
    isTime(ttl) &&
    (token === null || Number.isSafeInteger(token)) &&
    typeof renew === 'boolean' &&
    isTime(minHold) &&
    (maxHold === null || isTime(maxHold)) &&
    (name === null || typeof name === 'string') &&
    (label === null || isLabel(label))
  );
}

function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

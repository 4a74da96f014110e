import { randomBytes, randomFillSync } from 'node:crypto';
import { hostname } from 'node:os';
import { KEPT, NEVER, PERMITS, SHARED } from '../protocol/constants.js';

/** What an id begins with that clients of the SETNX articles read as a time to come. */
const NEVER_PREFIX = `${NEVER}-`;

/** What stands at a lock's name while no single holder does: of several, or of nobody in a minimum hold. */
export const MARKERS = { shared: SHARED, permits: PERMITS, kept: KEPT } as const;

/** As what several hold the lock at whose name this stands; undefined for any other text. */
export function modeAt(text: string | undefined): 'shared' | 'permits' | undefined {
  if (text === MARKERS.shared) return 'shared';
  return text === MARKERS.permits ? 'permits' : undefined;
}

/**
 * The name under which this process waits and holds: host, pid and 64 random bits, without a slash. With `timestampCompat`
 * it begins with a time to come, for clients that read what a text begins with as a number.
 */
export function newProcessId(timestampCompat = false): string {
  const host =
    hostname()
      .replaceAll(/[^\w-]/g, '-')
      .slice(-40) || 'host'; // the end of a pod's name tells it from the others
  return `${timestampCompat ? NEVER_PREFIX : ''}${host}.${process.pid}.${randomBytes(8).toString('base64url')}`;
}

/** The holder and its first token in what stands at the name of a lock that one holder has alone. */
const ALONE = /^([^/]+\/[^/]+)\/(\d+)$/;

/** Who holds a lock by itself, by what stands at its name, and the first of the tokens that were reserved for it. */
export function heldAlone(value: string): { holder: string; firstToken: number | undefined } {
  const [, holder = value, token] = ALONE.exec(value) ?? [];
  return { holder, firstToken: token === undefined ? undefined : Number(token) };
}

/** What stands at the name of a lock that one holder has alone. */
export function valueOf(holder: string, firstToken: number | undefined): string {
  return firstToken === undefined ? holder : `${holder}/${firstToken}`;
}

const BYTES = 16;
/** Random bytes for many ids: to draw those of one costs ten times as much. */
const pool = Buffer.alloc(256 * BYTES);
let used = pool.length;
/** The clock, and its bits. */
const moment = new Float64Array(1);
const bits = Buffer.from(moment.buffer);

/** What ends the id of a holder without fencing tokens, so that whoever looks takes no other holder's token for its own. */
const UNFENCED = '-';

/** What ends the id of a holder in a dialect where native locks may stand at the same names: no native id has it. */
export const MARK = '~';

/** The id of a holder, as it says whether its grant has fencing tokens. */
export function holderId(processId: string, id: string, fenced: boolean): string {
  return fenced ? `${processId}/${id}` : `${processId}/${id}${UNFENCED}`;
}

/** Whether this is the id of a holder of ours whose grant has fencing tokens. */
export function isFenced(holder: string): boolean {
  return /\/[\w-]{22}h?(?:[~/]|$)/.test(holder);
}

/** The id under which a lock is held on its way from this process to another. */
export function handedOverId(processId: string, id: string, fenced: boolean): string {
  return holderId(processId, `${id}h`, fenced);
}

/** Whether this is such an id: nobody works under it. */
export function isHandedOver(holder: string): boolean {
  return /\/[\w-]{22}h-?$/.test(holder);
}

/**
 * An id nobody can guess, used for one grant only: the process and 128 random bits. The clock is mixed into them, because two
 * clones of one snapshot of this process's memory draw the same.
 */
export function newHolderId(processId: string, fenced = true): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  moment[0] = performance.now();
  for (let at = 0; at < bits.length; at += 1) pool[used + at]! ^= bits[at]!;
  return holderId(processId, pool.toString('base64url', used, (used += BYTES)), fenced);
}

const HOLDER = new RegExp(String.raw`^(?:${NEVER_PREFIX})?([\w-]+)\.(\d+)\.[\w-]{11}/`);

/** Who a holder id or a place belongs to; undefined if another library wrote it. */
export function processOf(holder: string): { host: string; pid: number } | undefined {
  const [, host, pid] = HOLDER.exec(holder) ?? [];
  return host === undefined ? undefined : { host, pid: Number(pid) };
}

import { randomBytes, randomFillSync } from 'node:crypto';
import { hostname } from 'node:os';
import type { LockParty } from '../errors/index.js';
import { BoundedCache, isLabel, LONGEST_LABEL } from '../options/index.js';
import { NEVER, PERMITS, SHARED } from '../protocol/constants.js';

/** The prefix of ids that clients of the SETNX articles read as a future time. */
const NEVER_PREFIX = `${NEVER}-`;

/** The mode of a shared lock by the value at its name; undefined for any other text. */
export function modeAt(text: string | undefined): 'shared' | 'permits' | undefined {
  if (text === SHARED) return 'shared';
  return text === PERMITS ? 'permits' : undefined;
}

/**
 * The id of this process as a waiter and holder: host, pid and 64 random bits, without a slash. With `timestampCompat` the id
 * begins with a future time, for clients that read the beginning of a text as a number.
 */
export function newProcessId(timestampCompat = false): string {
  const host =
    hostname()
      .replaceAll(/[^\w-]/g, '-')
      .slice(-40) || 'host'; // the ends of pod names differ
  return `${timestampCompat ? NEVER_PREFIX : ''}${host}.${process.pid}.${randomBytes(8).toString('base64url')}`;
}

/** Matches the value of an exclusive lock: the holder and its first token. */
const ALONE = /^([^/]+\/[^/]+)\/(\d+)$/;

/** Reads the exclusive holder from the value at a lock's name, and the first of its reserved tokens. */
export function heldAlone(value: string): { holder: string; firstToken: number | undefined } {
  const [, holder = value, token] = ALONE.exec(value) ?? [];
  return { holder, firstToken: token === undefined ? undefined : Number(token) };
}

const BYTES = 16;
/** Random bytes for many ids: a draw for each id costs ten times as much. */
const pool = Buffer.alloc(256 * BYTES);
let used = pool.length;
/** A reading of the clock, and its bytes to mix into an id. */
const moment = new Float64Array(1);
const bits = Buffer.from(moment.buffer);

/** The end of the id of a holder without fencing tokens: no reader takes another holder's token for its own. */
const UNFENCED = '-';

/** The end of a dialect holder's id at locks that native callers take too. No native id ends so, which tells the two apart. */
export const MARK = '~';

/** Labels as they stand behind an id: no character in them separates anything, in no format. */
const written = new BoundedCache((label) => `_${Buffer.from(label).toString('base64url')}`);

/** The id of a holder, which shows whether its grant has fencing tokens, and the label of its call. */
export function holderId(processId: string, id: string, fenced: boolean, label?: string): string {
  const holder = fenced ? `${processId}/${id}` : `${processId}/${id}${UNFENCED}`;
  return label === undefined ? holder : holder + written.get(label);
}

/** True for the id of a holder of ours whose grant has fencing tokens. */
export function isFenced(holder: string): boolean {
  return /\/[\w-]{22}h?(?:_[\w-]+)?(?:[~/]|$)/.test(holder);
}

/** The id that holds a lock on its way from this process to another. */
export function handedOverId(
  processId: string,
  id: string,
  fenced: boolean,
  label?: string,
): string {
  return holderId(processId, `${id}h`, fenced, label);
}

/** True for the id of a lock on its way: no code works under it. */
export function isHandedOver(holder: string): boolean {
  return /\/[\w-]{22}h-?(?:_[\w-]+)?$/.test(holder);
}

/** The most characters in which a label is written. */
const LONGEST_WRITTEN = Math.ceil((LONGEST_LABEL * 3 * 4) / 3);
const LABELLED = new RegExp(
  String.raw`^[^/]+/[\w-]{22}h?-?_([\w-]{1,${LONGEST_WRITTEN}})(?:[~/]|$)`,
);

/** What the call of a holder, or of an entry, was labelled; undefined if it was not, or somebody wrote what is no label. */
export function labelOf(holder: string): string | undefined {
  const text = LABELLED.exec(holder)?.[1];
  const label = text && Buffer.from(text, 'base64url').toString();
  return isLabel(label) ? label : undefined;
}

/**
 * An unguessable id for one grant: the process and 128 random bits. The clock is mixed in, because two clones of one memory
 * snapshot draw the same random bits.
 */
export function newHolderId(processId: string, fenced = true, label?: string): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  moment[0] = performance.now();
  for (let at = 0; at < bits.length; at += 1) pool[used + at]! ^= bits[at]!;
  return holderId(processId, pool.toString('base64url', used, (used += BYTES)), fenced, label);
}

const HOLDER = new RegExp(String.raw`^(?:${NEVER_PREFIX})?([\w-]+)\.(\d+)\.[\w-]{11}/`);

/** The host and pid in a holder id or an entry; undefined if another library wrote the text. */
export function processOf(holder: string): { host: string; pid: number } | undefined {
  const [, host, pid] = HOLDER.exec(holder) ?? [];
  return host === undefined ? undefined : { host, pid: Number(pid) };
}

/** The process and the label of a holder id or an entry; undefined if another library wrote it. */
export function partyOf(holder: string): LockParty | undefined {
  const process = processOf(holder);
  const label = labelOf(holder);
  return process && label !== undefined ? { ...process, label } : process;
}

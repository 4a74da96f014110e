import { type AcquireOptions, type CallSettings, READER } from '../../lib/engine/options/index.js';

/** Picks one of some, as a seed has it. */
export type Choice = <T>(...some: readonly T[]) => T;

type Settings = Omit<CallSettings, 'format' | 'name' | 'slowWait' | 'slowHold' | 'untold'>;

/** What a caller asks for, and what it does with the lease. */
export interface DrawnCall extends Settings {
  readonly keys: readonly string[];
  readonly dialect: AcquireOptions['dialect'];
  /** When its caller gives up, in ms after the call; undefined: never. */
  readonly abortAfter: number | undefined;
  /** What is done under the lease, in this order. */
  readonly deeds: readonly Deed[];
}

export type Deed =
  | { readonly kind: 'work'; readonly ms: number }
  | { readonly kind: 'extend'; readonly ttl: number }
  | { readonly kind: 'downgrade' }
  | { readonly kind: 'hand over'; readonly after: number }
  | { readonly kind: 'await'; readonly wait: number; readonly abortAfter: number | undefined }
  | { readonly kind: 'signal'; readonly most: number }
  | { readonly kind: 're-enter'; readonly inner: DrawnCall };

/** The permits of each semaphore that is drawn. */
export const PERMITS = 3;

/** Draws a call that the options accept: `byVotes` those of a quorum. `around`: the call under whose lease it is made. */
export function drawCall(pick: Choice, byVotes: boolean, around?: DrawnCall): DrawnCall {
  const kinds = byVotes
    ? (['lock'] as const)
    : (['lock', 'lock', 'lock', 'permits', 'dialect'] as const);
  const kind = around ? kindOf(around) : pick(...kinds);
  const modes = byVotes
    ? (['exclusive'] as const)
    : (['exclusive', 'exclusive', 'shared'] as const);
  const mode = around?.share === READER ? 'shared' : pick(...modes);
  const several =
    kind === 'lock' ? pick(['a'], ['a'], ['a'], ['b'], ['a', 'b'], ['a', 'b', 'c']) : [kind];
  const ttl = pick(50, 300, 1_000, 5_000);
  const renew = pick(true, true, true, false);
  const minHold = kind === 'dialect' ? 0 : pick(0, 0, 0, 40, 500);
  const isCounted = kind !== 'dialect' && !byVotes && !around;
  const call: DrawnCall = {
    keys: around ? around.keys : several,
    ttl,
    wait: around ? pick(0, 100) : pick(0, 100, 3_000, 3_000, Infinity),
    maxWaiting: isCounted ? pick(Infinity, Infinity, Infinity, 1, 3) : Infinity,
    renew,
    minHold: renew ? minHold : Math.min(minHold, ttl),
    maxHold: pick(Infinity, Infinity, Math.max(ttl, minHold), Math.max(ttl, minHold) + 700),
    fencing: pick(true, true, false),
    reentrant: around ? pick(true, true, false) : true,
    label: pick(undefined, undefined, 'Seats.hold'),
    dialect: kind === 'dialect' ? 'redlock' : undefined,
    share:
      kind === 'permits'
        ? { permits: PERMITS, count: pick(1, 1, 2, PERMITS) }
        : kind === 'lock' && mode === 'shared'
          ? READER
          : undefined,
    abortAfter: pick(undefined, undefined, undefined, 0, 30, 400),
    deeds: [],
  };
  return { ...call, deeds: drawDeeds(pick, byVotes, call, around !== undefined) };
}

function kindOf({ dialect, share }: DrawnCall): 'lock' | 'permits' | 'dialect' {
  if (dialect !== undefined) return 'dialect';
  return share && share !== READER ? 'permits' : 'lock';
}

function drawDeeds(pick: Choice, byVotes: boolean, call: DrawnCall, isInner: boolean): Deed[] {
  const isAlone = call.share === undefined && call.dialect === undefined && !byVotes;
  const work = (): Deed => ({ kind: 'work', ms: pick(0, 0, 0, 1, 60, 400, 2_000) });
  const other = (): Deed => {
    const kind = pick(
      'work',
      'work',
      'extend',
      're-enter',
      'hand over',
      'downgrade',
      'await',
      'signal',
    );
    const isSingle = isAlone && call.keys.length === 1;
    if (kind === 'extend') return { kind, ttl: pick(50, 500, 2_000) };
    if (kind === 're-enter' && !isInner && kindOf(call) !== 'permits') {
      return { kind, inner: drawCall(pick, byVotes, call) };
    }
    if (kind === 'hand over' && isSingle && !isInner) return { kind, after: pick(0, 20) };
    if (kind === 'downgrade' && isAlone && !isInner) return { kind };
    if (kind === 'await' && isSingle && !isInner) {
      return { kind, wait: pick(0, 50, 800), abortAfter: pick(undefined, undefined, 30) };
    }
    if (kind === 'signal' && isSingle) return { kind, most: pick(1, Number.MAX_SAFE_INTEGER) };
    return work();
  };
  return [work(), other(), work()];
}

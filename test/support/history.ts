import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { type AcquireOptions, READER, type Share } from '../../lib/engine/options/index.js';
import { type Granted, Grants, type HolderIds, type Turn } from './grants.js';
import type { LockingProcess } from './world.js';

/** One stretch of time in which somebody believed to hold a lock. Plain data: processes may exchange it. */
export interface Claimed {
  readonly key: string;
  /** Unlike for any two grants; the same for leases that share one by re-entry. */
  readonly holder: string;
  readonly process: string;
  readonly fencingToken: number;
  /** How many may hold it beside each other; undefined: one alone. */
  readonly beside?: number | undefined;
  /** Where the server queued it; undefined if it never waited. */
  readonly arrival?: number | undefined;
  /** It came by a batch: the server granted it to another. */
  readonly passed?: boolean | undefined;
  /** It was granted when it was asked for, and did not queue. */
  readonly atOnce?: boolean | undefined;
  /** When that was asked for, by the clock of the servers, in µs; said of readers. */
  readonly sentAt?: number | undefined;
  /** When acquire was called. */
  readonly asked?: number | undefined;
  /** When acquire resolved. */
  readonly from: number;
  /** When release was called, the loss was told or the deadline came, whichever was first. */
  readonly to: number;
}

type Options = AcquireOptions & { key?: string | readonly string[]; share?: Share };

/** Whose lease it is. */
type Recorded = {
  readonly store: { readonly processId: string };
  readonly clock: { wall(): number };
};

/** How a lease was come by. */
interface Origin {
  /** When it was asked for; not said of one that was held before, in another way. */
  readonly asked?: number | undefined;
  readonly holderIds?: HolderIds | undefined;
  /** Whose grant it goes on with. */
  readonly holder?: string | undefined;
}

interface Recording {
  readonly holder: string;
  /** To be called before the lease is given back. */
  readonly end: () => void;
}

/** Writes down who believed to hold a lock, and when, by a clock that all processes of the machine share. */
export class HistoryRecorder {
  readonly history: Claimed[] = [];
  readonly #grants = new Grants();
  readonly #signals = new Map<string, AbortSignal>();
  /** Of each lease that is recorded and not over: how to write down until when it lasts by now. */
  readonly #open = new Set<() => void>();
  #readers = 0;

  constructor(
    private readonly now = machineClock,
    /** Told what is certain at the beginning, and as it changes; at the end what came of it. Who is killed says nothing more. */
    private readonly journal: (claimed: Claimed) => void = () => {},
  ) {}

  /** To be put around a process's store: it sees entries and grants as they come. */
  get watch(): (store: LockStore) => LockStore {
    return this.#grants.watch;
  }

  /** A lease, and how to end its record: before it is released. */
  async acquire(
    process: LockingProcess,
    options: Options = {},
  ): Promise<{ lease: Lease; end: () => void }> {
    const asked = this.now();
    const { got: lease, holderIds } = await this.during(() => process.acquire(options));
    return { lease, end: this.record(process, lease, options, { asked, holderIds }).end };
  }

  /** A call that asks for locks; the grants that it gets are known as its own. */
  during<T>(call: () => Promise<T>): Promise<{ got: T; holderIds: HolderIds }> {
    return this.#grants.during(call);
  }

  /** Whether the server may have taken a process for dead, at a lock, since that moment. */
  mayHaveDied(process: Recorded, key: string, since: number): boolean {
    return this.#grants.mayHaveDied(process.store.processId, key, since);
  }

  /** Writes down which leases were renewed since this was called last. */
  noteRenewals(): void {
    for (const note of this.#open) note();
  }

  /** A lease that is held from now on. */
  record(
    process: Recorded,
    lease: Lease,
    options: Options,
    { asked, holderIds = new Map(), holder }: Origin = {},
  ): Recording {
    const from = this.now();
    const share = options.share ?? (options.mode === 'shared' ? READER : undefined);
    const { processId } = process.store;
    const requests = lease.keys.flatMap((key) => {
      const fencingToken = lease.fencingTokenOf(key);
      // Readers have one token between them.
      const granted: Granted =
        holder !== undefined
          ? { holder }
          : share === READER
            ? {
                ...(asked !== undefined && this.#turnOf(lease)),
                holder: `${processId}/reader ${(this.#readers += 1)}`,
              }
            : this.#grant(processId, key, fencingToken, holderIds, lease.signal);
      const { arrival, passed, atOnce, sentAt } = granted;
      return Array.from({ length: share?.count ?? 1 }, (_, nth) => ({
        key,
        holder: nth === 0 ? granted.holder : `${granted.holder} #${nth + 1}`,
        process: processId,
        fencingToken,
        beside: share?.permits,
        arrival,
        passed,
        atOnce,
        sentAt,
        asked,
        from,
      }));
    });
    const deadline = (): number => this.now() + (lease.expiresAt - process.clock.wall());
    const note = (to: number): void => {
      for (const request of requests) this.journal({ ...request, to });
    };
    let { expiresAt } = lease;
    const renewed = (): void => {
      if (lease.expiresAt === expiresAt) return;
      ({ expiresAt } = lease);
      note(deadline());
    };
    note(deadline());
    this.#open.add(renewed);
    let lostAt = lease.signal.aborted ? from : Infinity;
    const onLost = (): void => {
      lostAt = this.now();
      this.#open.delete(renewed);
      note(Math.min(lostAt, deadline()));
    };
    lease.signal.addEventListener('abort', onLost, { once: true });
    const end = (): void => {
      this.#open.delete(renewed);
      lease.signal.removeEventListener('abort', onLost);
      // What it says of itself counts, also where that is wrong.
      const now = this.now();
      const to = lease.held ? now : Math.min(now, lostAt, deadline());
      for (const request of requests) this.history.push({ ...request, to });
      note(to);
    };
    return { holder: requests[0]!.holder, end };
  }

  /** `work` under a recorded lease. */
  async run(process: LockingProcess, options: Options, work: () => Promise<void>): Promise<void> {
    const { lease, end } = await this.acquire(process, options);
    await work();
    end();
    await lease.release();
  }

  /** How a reader came to its lease; of several locks together nobody says so. */
  #turnOf(lease: Lease): Turn | undefined {
    if (!(lease instanceof SingleLease)) return undefined;
    return this.#grants.ofReader(SingleLease.heldLeaseOf(lease).request.holder);
  }

  /** Leases with one token are of one grant, by re-entry, if they have one signal; else somebody was given another's. */
  #grant(
    processId: string,
    key: string,
    token: number,
    holderIds: HolderIds,
    signal: AbortSignal,
  ): Granted {
    const unknown = { holder: `${processId}/unknown ${key} ${token}` };
    const grant = this.#grants.of(key, token, holderIds) ?? unknown;
    const name = `${key} ${token}`;
    const first = this.#signals.get(name) ?? signal;
    this.#signals.set(name, first);
    if (signal === first) return grant;
    return { ...grant, holder: `${grant.holder} with another’s token` };
  }
}

/** What is wrong with a history; empty if nothing is. */
export function violations(
  history: readonly Claimed[],
  { sections = history.length }: { sections?: number } = {},
): string[] {
  const found: string[] = [];
  if (history.length !== sections) found.push(`${history.length} sections ran, not ${sections}`);
  for (const key of new Set(history.map((entry) => entry.key))) {
    const inTurn = history
      .filter((entry) => entry.key === key)
      .sort((a, b) => a.from - b.from || a.to - b.to);
    found.push(...overlaps(inTurn), ...staleTokens(inTurn), ...queueJumps(inTurn));
  }
  return found;
}

/** @throws Error with the first violations of a history. */
export function checkHistory(
  history: readonly Claimed[],
  expected: { sections?: number } = {},
): void {
  const found = violations(history, expected);
  if (found.length === 0) return;
  throw new Error(
    `The history is wrong in ${found.length} places: ${found.slice(0, 5).join('; ')}`,
  );
}

/** More hold a lock at a time than may. Of one lock, in the order of their begins. */
export function overlaps(inTurn: readonly Claimed[]): string[] {
  const found: string[] = [];
  const latest = new Map<string, Claimed>();
  for (const entry of inTurn) {
    const others = [...latest.values()].filter(
      (before) => before.holder !== entry.holder && before.to > entry.from,
    );
    const most = Math.min(...[entry, ...others].map(({ beside = 1 }) => beside));
    if (others.length >= most) {
      const [before] = others as [Claimed];
      found.push(
        `${name(entry)} began ${before.to - entry.from} ms before ${name(before)} ended` +
          (others.length > 1 ? `, and ${others.length - 1} more` : ''),
      );
    }
    const own = latest.get(entry.holder);
    if (!own || own.to < entry.to) latest.set(entry.holder, entry);
    for (const [holder, before] of latest) if (before.to <= entry.from) latest.delete(holder);
    if (entry.to <= entry.from) latest.delete(entry.holder);
  }
  return found;
}

/** Of exclusive grants each has a greater token than all before it; a reader has none that is smaller. */
function staleTokens(inTurn: readonly Claimed[]): string[] {
  const found: string[] = [];
  let last: Claimed | undefined;
  for (const entry of inTurn) {
    if (entry.beside !== undefined && entry.beside !== Infinity) continue;
    const same = entry.holder === last?.holder;
    const grows = !last || entry.fencingToken > last.fencingToken;
    const reads = entry.beside === Infinity && entry.fencingToken === last?.fencingToken;
    if (same ? entry.fencingToken !== last!.fencingToken : !grows && !reads) {
      found.push(`${name(entry)} came after ${name(last!)}`);
    }
    if (!last || grows) last = entry;
  }
  return found;
}

/**
 * Who asked when another had been granted the lock, `margin` ms before or earlier, has no smaller token; who holds it
 * alone, a greater one.
 */
export function staleInRealTime(inTurn: readonly Claimed[], margin = 0): string[] {
  const alone = inTurn.filter(({ beside = Infinity }) => beside === Infinity);
  const greatest: Claimed[] = [];
  for (const entry of alone) {
    const before = greatest.at(-1);
    greatest.push(before && before.fencingToken > entry.fencingToken ? before : entry);
  }
  return alone.flatMap((entry) => {
    if (entry.asked === undefined) return [];
    const before = greatest[countUntil(alone, entry.asked - margin) - 1];
    if (!before || before.holder === entry.holder) return [];
    const least = before.fencingToken + (entry.beside === undefined ? 1 : 0);
    return entry.fencingToken >= least ? [] : [`${name(entry)} asked when ${name(before)} had it`];
  });
}

/** How many begin at a moment or before. */
function countUntil(inTurn: readonly Claimed[], moment: number): number {
  let [low, high] = [0, inTurn.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (inTurn[middle]!.from <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Who queued earlier is served earlier, save that those who may hold together may begin in any order. With `lead`, by how many
 * ms tokens may be ahead of the clock, a newcomer who is granted the lock at once counts as one who queued at that moment.
 * The token of a reader may be old: it counts from when it asked.
 */
export function queueJumps(inTurn: readonly Claimed[], lead?: number): string[] {
  const found: string[] = [];
  interface Turn {
    readonly entry: Claimed;
    readonly came: number;
  }
  let last: Turn | undefined;
  let lastAlone: Turn | undefined;
  for (const entry of inTurn) {
    const { arrival, atOnce, fencingToken, sentAt } = entry;
    const newcomer =
      atOnce && lead !== undefined ? (sentAt ?? fencingToken - 1_000 * lead) : undefined;
    const came = arrival ?? newcomer;
    if (came === undefined || entry.holder === last?.entry.holder) continue;
    const before = entry.beside === undefined ? last : lastAlone;
    if (before && arrival !== undefined && arrival < before.came) {
      found.push(
        `${name(entry)}, queued at ${arrival}, was served after ${name(before.entry)}, ${before.entry.arrival === undefined ? 'which did not queue' : 'queued'} at ${before.came}`,
      );
    }
    if (!last || came > last.came) last = { entry, came };
    if (entry.beside === undefined && !(lastAlone && lastAlone.came > came)) {
      lastAlone = { entry, came };
    }
  }
  return found;
}

function name({ holder, fencingToken }: Claimed): string {
  return `${holder} (token ${fencingToken})`;
}

/** What was done about a condition, and when. */
export interface ConditionEvent {
  /** `signalled`: a signal was about to be sent; `unheard`: that of this moment woke nobody; `woken`: somebody woke by one. */
  readonly kind: 'signalled' | 'unheard' | 'woken';
  /** Of who woke: since when it awaited. */
  readonly from?: number;
  readonly at: number;
}

/** Each signal wakes one at most, and nobody wakes before it. */
export function unsignalled(events: readonly ConditionEvent[]): string[] {
  const found: string[] = [];
  let signals = 0;
  const inTurn = [...events].sort((a, b) => a.at - b.at);
  for (const { kind, at } of inTurn) {
    signals += kind === 'signalled' ? 1 : -1;
    if (signals < 0) found.push(`at ${at} more had woken than were signalled`);
  }
  return found;
}

/** CLOCK_MONOTONIC in ms: one for all processes of a machine. */
function machineClock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

import { type LeaseLostError, LockNotAcquiredError, LockOptionsError } from '../../errors/index.js';
import type { AcquireTrace } from '../../events/index.js';
import { abortWith, type CallSettings, type Clock, type Duration } from '../../options/index.js';
import { BaseLease, type OpenSection } from './lease.js';
import { SingleLease } from './single-lease.js';

/** One lease on several locks: held while each of them is, given back together. */
export class MultiLease extends BaseLease {
  readonly #parts: readonly SingleLease[];
  #controller: AbortController | undefined;
  #unwatch: readonly (() => void)[] = [];

  /** `parts` in the order of their keys. */
  constructor(
    parts: readonly SingleLease[],
    readonly waited: number,
  ) {
    super();
    this.#parts = parts;
  }

  get keys(): readonly string[] {
    return this.#parts.map(({ key }) => key);
  }

  get token(): undefined {
    return undefined;
  }

  get fencingToken(): number {
    throw new LockOptionsError(
      `A lease on several locks (${this.key}) has a fencing token for each: ask for fencingTokenOf(key).`,
    );
  }

  fencingTokenOf(key: string): number {
    const part = this.#parts.find((each) => each.key === key);
    if (part) return part.fencingToken;
    throw new LockOptionsError(`The lease on locks ${this.key} is none on "${key}".`);
  }

  get expiresAt(): number {
    return Math.min(...this.#parts.map(({ expiresAt }) => expiresAt));
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#unwatch = this.#parts.map(({ signal }) => abortWith(controller, signal));
    }
    return this.#controller.signal;
  }

  get held(): boolean {
    return this.#parts.map(({ held }) => held).every(Boolean); // each that is in doubt asks the server when it is looked at
  }

  get returned(): boolean {
    return this.#parts.every(({ returned }) => returned);
  }

  get handedOver(): boolean {
    return this.#parts.every(({ handedOver }) => handedOver);
  }

  /** The error of the part that was lost: the other parts are given back after that, and are not held either. */
  lossError(): LeaseLostError {
    const over = this.#parts.filter(({ held }) => !held).map((part) => part.lossError());
    const lost = over.find(({ reason }) => reason !== 'released');
    return lost ?? over[0] ?? this.#parts[0]!.lossError();
  }

  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await Promise.all(this.#parts.map((part) => part.extend(ttl)));
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    for (const part of this.#parts) part.refuseDowngrade();
    await Promise.all(this.#parts.map((part) => part.downgrade()));
  }

  async handOver(): Promise<string> {
    return SingleLease.handOver(this.#parts);
  }

  async release(unused?: 'unused'): Promise<boolean> {
    const released = await Promise.all(this.#parts.map((part) => part.release(unused)));
    for (const each of this.#unwatch) each(); // a re-entered lease, held for long, would keep these listeners
    return released.every(Boolean);
  }

  /** Opens one section inside the other, so that each of the locks can be re-entered. */
  openSection(lease: BaseLease = this): OpenSection {
    const [first, ...rest] = this.#parts as [SingleLease, ...SingleLease[]];
    const sections = [first.openSection(lease)];
    for (const part of rest) {
      sections.push(sections.at(-1)!.run(() => part.openSection(lease)));
    }
    return {
      run: (work) => sections.at(-1)!.run(work),
      close: () => sections.forEach((section) => section.close()),
    };
  }
}

/** Acquires one of the locks by itself. */
type Acquire = (
  key: string,
  part: CallSettings,
  until: AbortSignal | undefined,
) => Promise<BaseLease>;

/**
 * Acquires all of the locks, or none. All are asked for at once: one round trip when they are free. If one is refused, the
 * locks behind it are given back, and the rest is waited for one by one in the order of the keys. So two callers that want
 * the same locks never wait for each other, in whatever order they name them. Locks are renewed meanwhile whatever the call
 * wants of its leases, which begin when the last lock is held. A lock that is lost meanwhile is asked for again, with those
 * behind it.
 * @throws the error of the first failure, after everything has been given back.
 */
export async function acquireMany(
  keys: readonly string[],
  call: CallSettings,
  clock: Clock,
  signal: AbortSignal | undefined,
  trace: AcquireTrace | undefined,
  from: number,
  acquire: Acquire,
): Promise<BaseLease> {
  const part = { ...call, ...PART };
  const ask = async (key: string, wait: number, until?: AbortSignal): Promise<SingleLease> =>
    acquire(key, { ...part, wait }, until) as Promise<SingleLease>;
  const asked = await Promise.allSettled(keys.map((key) => ask(key, 0, signal)));
  const first = asked.findIndex(({ status }) => status === 'rejected');
  const held = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = asked.filter((each) => each.status === 'rejected');
  try {
    await giveBack(held.splice(first === -1 ? keys.length : first));
    const failure = failures.find(({ reason }) => !isBusy(reason));
    if (failure) throw failure.reason;
    if (first !== -1 && call.wait === 0) throw failures[0]!.reason;
    for (;;) {
      const wait = Math.max(0, call.wait - (clock.monotonic() - from));
      const lost = held.findIndex((lease) => !lease.held);
      if (lost !== -1) {
        await giveBack(held.splice(lost));
        if (wait === 0) throw new LockNotAcquiredError(keys[lost]!, 0);
      }
      if (held.length === keys.length) break;
      const ends = new AbortController();
      const callOffs = [signal, ...held.map((lease) => lease.signal)].map((each) =>
        abortWith(ends, each),
      );
      try {
        held.push(await ask(keys[held.length]!, wait, ends.signal));
      } catch (error) {
        if (signal?.aborted || !ends.signal.aborted || error !== ends.signal.reason) throw error;
      } finally {
        for (const callOff of callOffs) callOff();
      }
    }
    const waited = clock.monotonic() - from;
    for (const lease of held) lease.begin(call, waited, trace);
    return new MultiLease(held, waited);
  } catch (error) {
    const waited = Math.round(clock.monotonic() - from);
    await giveBack(held);
    if (!isBusy(error) || call.wait === 0) throw error;
    const { key, permits, holder } = error;
    throw Object.assign(new LockNotAcquiredError(key!, waited, call.wait, permits), { holder });
  }
}

/** The settings of each lock until all are held: no code runs under it. */
const PART = {
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  slowHold: Infinity,
  untold: true,
} as const;

/** Releases leases under which no code ran, so no minimum hold counts. */
async function giveBack(leases: readonly SingleLease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release('unused')));
}

function isBusy(error: unknown): error is LockNotAcquiredError {
  return error instanceof LockNotAcquiredError;
}

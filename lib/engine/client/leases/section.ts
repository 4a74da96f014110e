import { AsyncLocalStorage } from 'node:async_hooks';
import { LockNotAcquiredError, LockUpgradeError } from '../../errors/index.js';
import { isSameLock, type LockRequest } from '../../locks/lock-request.js';
import {
  abortWith,
  type CallSettings,
  type Clock,
  isReader,
  onAbort,
} from '../../options/index.js';
import type { HeldLease } from './held-lease.js';
import type { BaseLease } from './lease.js';

/** The innermost section around the running code. */
const inside = new AsyncLocalStorage<Section>();

/** The reason that ends a sibling's wait as a stranger: the code around holds the lock again. */
const HELD_AGAIN = Symbol('held again');

/**
 * A stretch of code that runs under a lease. Code inside it may acquire the same lock again; siblings inside it take turns,
 * as strangers would.
 */
export class Section {
  #open = true;
  #occupied = false;
  /** Siblings that wait for their turn; few sections have any. */
  #queue: (() => void)[] | undefined;
  /** The next open section around this one. Closed sections are passed over, or a chain of timers would keep them all. */
  readonly #outer: Section | undefined = Section.#innermost();

  constructor(
    /** The owner of the lease: two applications in one process do not share their leases. */
    readonly owner: object,
    private readonly entered: HeldLease,
    readonly lease: BaseLease,
  ) {}

  /** The present state of the section's lease. */
  get heldLease(): HeldLease {
    return this.entered.current;
  }

  /** The innermost open section of this owner around the running code whose lock fits. */
  static current(owner: object, fits: (request: LockRequest) => boolean): Section | undefined {
    for (let each = inside.getStore(); each; each = each.#outer) {
      if (each.#open && each.owner === owner && fits(each.heldLease.request)) return each;
    }
    return undefined;
  }

  /**
   * The section that a call may re-enter without asking the store. A semaphore has none: each call takes one more permit.
   * @throws LockUpgradeError if the lock is held in shared mode and the call wants it exclusively.
   */
  static toReenter(owner: object, key: string, call: CallSettings): Section | undefined {
    const { reentrant, share, format } = call;
    if (!Section.isAround || !reentrant || (share && !isReader(share))) return undefined;
    const section = Section.current(owner, (request) => isSameLock(request, { key, format }));
    const held = section?.heldLease.request.share;
    if (held && !isReader(held)) return undefined;
    if (section?.upgrades(call)) throw new LockUpgradeError(key);
    return section;
  }

  /** The open sections of this owner around the running code, from the inside out. */
  static *around(owner: object): Generator<Section> {
    for (let section = inside.getStore(); section; section = section.#outer) {
      if (section.#open && section.owner === owner) yield section;
    }
  }

  /** The keys held by this owner's sections around the running code. */
  static heldAround(owner: object): ReadonlySet<string> {
    const held = new Set<string>();
    for (const { heldLease } of Section.around(owner)) {
      if (heldLease.held) held.add(heldLease.request.key);
    }
    return held;
  }

  /** Whether any section, open or closed, is around the running code. */
  static get isAround(): boolean {
    return inside.getStore() !== undefined;
  }

  static #innermost(): Section | undefined {
    let section = inside.getStore();
    while (section && !section.#open) section = section.#outer;
    return section;
  }

  run<T>(work: () => T): T {
    const { trace } = this.heldLease;
    return trace ? trace.run(() => inside.run(this, work)) : inside.run(this, work);
  }

  /** Ends the section: work that outlives it is no longer inside. */
  close(): void {
    this.#open = false;
  }

  /** Whether the call wants exclusively a lock that is held in shared mode. */
  upgrades({ share }: CallSettings): boolean {
    const { held, inDoubt, request } = this.heldLease;
    return !share && request.share !== undefined && (held || inDoubt);
  }

  /**
   * Waits until no sibling is inside, and adds a lease to the lock. Resolves to a function that lets the next sibling in;
   * to undefined if the lease ended meanwhile, so that the caller has to acquire the lock. `wait` counts from `from`.
   * @throws LockUpgradeError if the lock was downgraded meanwhile and the call is exclusive; LeaseLostError,
   * `signal.reason`.
   */
  async enter(
    call: CallSettings,
    signal: AbortSignal | undefined,
    clock: Clock,
    from: number,
  ): Promise<(() => void) | undefined> {
    if (this.givenBack) return undefined;
    if (this.#occupied && !(await this.#turn(call.wait, signal, clock, from))) return undefined;
    const upgrades = this.upgrades(call);
    if (upgrades || this.givenBack) {
      this.#next();
      if (!upgrades) return undefined;
      throw new LockUpgradeError(this.heldLease.request.key);
    }
    this.#occupied = true;
    this.heldLease.addLease(); // the lease counts at once, because its sole holder may downgrade it or hand it over
    return () => this.#next();
  }

  /**
   * Waits as a stranger would, because the code around does not hold the lock. Undefined when that code holds it again, for
   * example after a condition: its lease may end only after the caller's, so the caller has to re-enter it.
   */
  async waitBeside(
    signal: AbortSignal | undefined,
    wait: (signal: AbortSignal) => Promise<BaseLease>,
  ): Promise<BaseLease | undefined> {
    const again = new AbortController();
    const callOffs = [
      this.heldLease.whenTurns(() => again.abort(HELD_AGAIN)),
      abortWith(again, signal),
    ];
    try {
      return await wait(again.signal);
    } catch (error) {
      if (error !== HELD_AGAIN) throw error;
      return undefined;
    } finally {
      for (const callOff of callOffs) callOff();
    }
  }

  /** Whether the lock is given back; true also while the holder awaits a condition, so that others can signal it. */
  get givenBack(): boolean {
    const { state } = this.heldLease;
    return state !== 'held' && state !== 'lost';
  }

  #next(): void {
    const next = this.#queue?.[0];
    if (next) next();
    else this.#occupied = false;
  }

  /** Resolves to true when the caller's turn has come, to false if the holder awaits a condition before that. */
  #turn(
    wait: number,
    signal: AbortSignal | undefined,
    clock: Clock,
    from: number,
  ): Promise<boolean> {
    const { heldLease } = this;
    const { key } = heldLease.request;
    const { signal: lost } = heldLease;
    if (lost.aborted) return Promise.reject(lost.reason);
    const queue = (this.#queue ??= []);
    return new Promise((resolve, reject) => {
      const turn = (): void => end(() => resolve(true));
      const end = (settle: () => void): void => {
        for (const callOff of bounds) callOff();
        queue.splice(queue.indexOf(turn), 1);
        settle();
      };
      const late = (): void => {
        const waited = wait && Math.round(clock.monotonic() - from);
        reject(new LockNotAcquiredError(key, waited, wait));
      };
      const left = Math.max(0, from + wait - clock.monotonic());
      const bounds = [
        wait === Infinity ? () => {} : clock.after(left, () => end(late)),
        onAbort(signal, () => end(() => reject(signal!.reason))),
        onAbort(lost, () => end(() => reject(lost.reason))),
        heldLease.whenTurns(() => end(() => resolve(false))),
      ];
      queue.push(turn);
    });
  }
}

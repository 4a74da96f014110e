import { LockShutdownError, LockStoreError } from '../errors/index.js';
import type { LockStore, PushListener } from '../locks/lock-store.js';
import { type Clock, detached, onAbort } from '../options/index.js';
import { endsWithin } from './leases/timers.js';

/** Opens the store once, however many callers ask, and again after a failure. */
export class Opening {
  done = false;
  /** Resolves when the store was opened for the first time. */
  readonly opened: Promise<void>;
  #tellOpened!: () => void;
  #underWay: Promise<void> | undefined;
  #closed = false;

  constructor(
    private readonly store: LockStore,
    private readonly listener: PushListener,
    /** How long a call waits for the store to open, in ms. */
    private readonly timeout: number,
    private readonly clock: Clock,
    /** Aborts when no call may wait any more. */
    private readonly stopping: AbortSignal,
  ) {
    this.opened = new Promise((resolve) => (this.#tellOpened = resolve));
  }

  /** @throws LockShutdownError after {@link close}. */
  open(): Promise<void> {
    if (this.#closed) return Promise.reject(new LockShutdownError());
    this.#underWay ??= detached(() =>
      this.store.open(this.listener).then(
        () => {
          this.done = true;
          this.#tellOpened();
        },
        (error: unknown) => {
          this.#underWay = undefined;
          throw error;
        },
      ),
    );
    return this.#underWay;
  }

  /** Opens the store if needed. Returns how many of `ms` are left, or 0 if it did not open within them. */
  async rest(ms: number): Promise<number> {
    if (this.done) return ms;
    const end = this.clock.monotonic() + ms;
    await endsWithin(
      ms,
      this.open().catch(() => {}),
      this.clock,
    );
    return Math.max(0, Math.round(end - this.clock.monotonic()));
  }

  /** Refuses to open the store again: nobody would close it. */
  close(): void {
    this.#closed = true;
  }

  /** Opens the store for a call, which waits no longer than for a command, and leaves no listener where the store stays closed. */
  within(key: string, signal: AbortSignal | undefined): Promise<void> {
    const bounds: (() => void)[] = [];
    return new Promise<void>((resolve, reject) => {
      const late = (): void => {
        const found = this.store.describe().found.replace(/\.$/, '');
        const message = `Lock "${key}" was not acquired: Redis could not be used within ${this.timeout} ms (${found}).`;
        reject(new LockStoreError(message, { key, outcome: 'unsent' }));
      };
      bounds.push(
        this.clock.after(this.timeout, late),
        onAbort(signal, () => reject(signal!.reason)),
        onAbort(this.stopping, () => reject(new LockShutdownError(key))),
      );
      this.open().then(resolve, reject);
    }).finally(() => {
      for (const callOff of bounds) callOff();
    });
  }
}

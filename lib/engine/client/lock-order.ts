import { LockNotAcquiredError, LockOrderError, type NestedLocks } from '../errors/index.js';
import type { CallSettings } from '../options/index.js';
import { Section } from './leases/section.js';

/** The most pairs of nested locks that are remembered; the oldest are forgotten first. */
const REMEMBERED = 5_000;
/** How many frames a stack trace has: the frames of this library stand before the caller's. */
const FRAMES = 30;

/**
 * Remembers which locks were wanted inside which, and finds locks that are taken in opposite orders, before two callers
 * deadlock. It sees this process only, and only the locks of sections around a call: `withLock`, decorators, `lease.run`. A
 * call that does not wait or re-enters is exempt, as it waits for nobody.
 */
export class LockOrder {
  /** The nested pairs, by held lock, then by wanted lock. */
  readonly #nested = new Map<string, Map<string, NestedLocks>>();
  #size = 0;

  constructor(
    private readonly owner: object,
    /** Called once for each pair. Without it, every call in the opposite order is refused. */
    private readonly warn: ((error: LockOrderError) => void) | undefined,
  ) {}

  /** @throws LockOrderError if the call has to be refused. */
  check(keys: string | readonly string[], { wait }: CallSettings): void {
    if (wait === 0 || !Section.isAround) return;
    const held = Section.heldAround(this.owner);
    for (const wanted of typeof keys === 'string' ? [keys] : keys) {
      if (held.has(wanted)) continue;
      for (const outer of held) {
        const error = this.#note(outer, wanted);
        if (error && !this.warn) throw error;
        if (error) this.warn?.(error);
      }
    }
  }

  #note(held: string, wanted: string): LockOrderError | undefined {
    if (this.#nested.get(held)?.has(wanted)) return undefined;
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = FRAMES;
    try {
      const before = this.#path(wanted, held, new Set());
      const error = before && new LockOrderError(held, wanted, before);
      if (!error || this.warn) this.#remember({ held, wanted, at: stack() });
      return error;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  /** The chain of nested locks by which `to` was wanted under `from`. */
  #path(from: string, to: string, visited: Set<string>): NestedLocks[] | undefined {
    visited.add(from);
    for (const nested of this.#nested.get(from)?.values() ?? []) {
      if (nested.wanted === to) return [nested];
      const rest = visited.has(nested.wanted) ? undefined : this.#path(nested.wanted, to, visited);
      if (rest) return [nested, ...rest];
    }
    return undefined;
  }

  #remember(nested: NestedLocks): void {
    const { held, wanted } = nested;
    if (this.#size === REMEMBERED) {
      const [oldest, pairs] = this.#nested.entries().next().value!;
      this.#nested.delete(oldest);
      this.#size -= pairs.size;
    }
    const inside = this.#nested.get(held) ?? new Map<string, NestedLocks>();
    this.#nested.set(held, inside.set(wanted, nested));
    this.#size += 1;
  }
}

/** The stack trace of the present call. */
function stack(): string {
  return new Error().stack!.replace(/^.*\n/, '');
}

/**
 * Settles as `coming` does. A call that waited in vain may have waited for itself, or for callers that wait for the locks
 * of this code: its error names those locks.
 */
export async function nestedWait<T>(
  coming: Promise<T>,
  { wait }: CallSettings,
  owner: object,
): Promise<T> {
  try {
    return await coming;
  } catch (error) {
    if (!(error instanceof LockNotAcquiredError)) throw error;
    const held = [...Section.heldAround(owner)];
    if (held.length === 0) throw error;
    const { key, waited, permits, holder } = error;
    throw Object.assign(new LockNotAcquiredError(key!, waited, wait, permits, held), { holder });
  }
}

/** The Redis keys of one lock. All lie in one cluster slot. */
export interface LockKeys {
  /** The plain name; what other libraries lock too. */
  readonly lock: string;
  readonly queue: string;
  readonly seen: string;
  readonly fence: string;
  /** While several hold the lock: each with the end of his lease. */
  readonly holders: string;
  /** In another service's format that does not say whose a lock is: which of us has it. */
  readonly grant: string;
}

/**
 * The keys of the lock `name`: beside the plain one, the rest carry its hash tag, or make one of it.
 * No two locks share a key, not even `k` and `{k}` without a prefix: no name has empty braces.
 */
export function lockKeys(prefix: string, name: string): LockKeys {
  const lock = prefix + name;
  const isTagOnly = lock.startsWith('{') && lock.endsWith('}');
  const base = isTagOnly ? `${lock}{}` : lock.includes('{') ? lock : `{${lock}}`;
  return {
    lock,
    queue: `${base}:queue`,
    seen: `${base}:seen`,
    fence: `${base}:fence`,
    holders: `${base}:holders`,
    grant: `${base}:grant`,
  };
}

/** How many locks' keys are remembered. */
const REMEMBERED = 1_000;

/** Something made of the keys of a lock, remembered for locks that are used again. */
export class Remembered<Made> {
  #known = new Map<string, Made>();

  constructor(private readonly make: (name: string) => Made) {}

  of(name: string): Made {
    let made = this.#known.get(name);
    if (made === undefined) {
      if (this.#known.size >= REMEMBERED) this.#known = new Map();
      made = this.make(name);
      this.#known.set(name, made);
    }
    return made;
  }
}

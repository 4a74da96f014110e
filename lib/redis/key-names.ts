/** The Redis keys of one lock. All lie in one cluster slot. */
export interface LockKeys {
  /** The plain name; what other libraries lock too. */
  readonly lock: string;
  readonly queue: string;
  readonly seen: string;
  readonly fence: string;
}

/** The keys of the lock `name`: beside the plain one, the rest carry its hash tag, or make one of it. */
export function lockKeys(prefix: string, name: string): LockKeys {
  const lock = prefix + name;
  const base = lock.includes('{') ? lock : `{${lock}}`;
  return { lock, queue: `${base}:queue`, seen: `${base}:seen`, fence: `${base}:fence` };
}

import { BoundedCache } from '../options/index.js';
import { KeyList } from './resp.js';

/** The keys that a lock may have beside its own, by their names in scripts: each is `<base>:<name>` in Redis. */
export const BESIDE = ['queue', 'seen', 'holders', 'version', 'grant'] as const;

/** The types of the keys that keep locks. */
export type KeyType = 'string' | 'zset' | 'hash';

/** The keys that scripts name, of locks with one prefix: a lock's own key, the keys beside it, and its fence. */
export class LockKeyLists {
  /** The lists of single locks, by the names that a script declares. */
  readonly #known = new Map<readonly string[], BoundedCache<KeyList>>();

  constructor(
    private readonly prefix: string,
    private readonly fenceTagOf: (lock: string) => string,
  ) {}

  /** The keys of one lock, encoded once for all steps on it. */
  of(names: readonly string[], key: string): KeyList {
    let lists = this.#known.get(names);
    if (!lists) {
      lists = new BoundedCache((name) => this.ofAll(names, [{ key: name }]));
      this.#known.set(names, lists);
    }
    return lists.get(key);
  }

  /** The keys of several locks, lock by lock. */
  ofAll(names: readonly string[], locks: readonly { readonly key: string }[]): KeyList {
    const keys = locks.flatMap(({ key }) => {
      const lock = this.prefix + key;
      const base = baseOf(lock);
      return names.map((name) => {
        if (name === 'lock') return lock;
        return name === 'fence' ? fenceKey(this.prefix, this.fenceTagOf(lock)) : `${base}:${name}`;
      });
    });
    return new KeyList(keys);
  }
}

/** The key that counts the tokens of all locks with this prefix, or of those in the slot of `tag`. No lock has its name. */
export function fenceKey(prefix: string, tag: string): string {
  return `${prefix}{${tag}}:fence`;
}

/**
 * The beginning of the keys beside a lock's own: its hash tag, or one made of the lock, so that all lie in one cluster
 * slot. No two locks share a key, not even `k` and `{k}` without a prefix: no name has empty braces.
 */
export function baseOf(lock: string): string {
  const isTagOnly = lock.startsWith('{') && lock.endsWith('}');
  return isTagOnly ? `${lock}{}` : lock.includes('{') ? lock : `{${lock}}`;
}

/** A Redis pattern in which `*` stands for anything, and all else for itself. */
export function globOf(before: string, pattern: string, after = ''): string {
  return escaped(before) + pattern.split('*').map(escaped).join('*') + escaped(after);
}

function escaped(text: string): string {
  return text.replaceAll(/[?*[\]\\^]/g, String.raw`\$&`);
}

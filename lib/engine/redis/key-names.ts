import { KeyList } from './resp.js';

/** The keys that a lock may have beside its own, by their names in scripts: each is `<base>:<name>` in Redis. */
export const BESIDE = ['queue', 'seen', 'holders', 'version', 'grant'] as const;

/** The types of the keys that keep locks. */
export type KeyType = 'string' | 'zset' | 'hash';

/** The keys of locks that a script names, lock by lock: the lock's own key, the keys beside it, and its fence. */
export function lockKeyList(
  script: { readonly keys: readonly string[] },
  prefix: string,
  locks: readonly { readonly key: string }[],
  fenceOf: (lock: string) => string,
): KeyList {
  const keys: string[] = [];
  for (const { key } of locks) {
    const lock = prefix + key;
    const base = baseOf(lock);
    for (const name of script.keys) {
      if (name === 'lock') keys.push(lock);
      else keys.push(name === 'fence' ? fenceOf(lock) : `${base}:${name}`);
    }
  }
  return new KeyList(keys);
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

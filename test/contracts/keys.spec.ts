import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LockKeyError } from '../../lib/errors/index.js';
import { lockName } from '../../lib/keys/index.js';
import { lockKeys } from '../support/lock-keys.js';

/** What Redis Cluster hashes of a key: its first tag in braces if there is something in it, else all of it. */
function hashed(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
}

function slots(prefix: string, name: string): string[] {
  return [...new Set(Object.values(lockKeys(prefix, name)).map(hashed))];
}

/** The name, if it may be one. */
function accepted(text: string): string | undefined {
  try {
    return lockName(text, 512);
  } catch {
    return undefined;
  }
}

describe('the keys of one lock lie in one cluster slot', () => {
  it.each(['account:42', 'a b', 'ключ', '{tenant}:doc', 'doc:{tenant}', 'a{b}c', ':', '|~'])(
    '%s',
    (name) => expect(slots('lock:', lockName(name, 512))).toHaveLength(1),
  );

  it('whatever name is accepted', () => {
    const unit = fc.constantFrom('a', 'b', ':', '{', '}', ' ', 'é');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 12 }), (text) => {
        const name = accepted(text);
        fc.pre(name !== undefined);
        expect(slots('app:lock:', name)).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['a}b', '{}x', 'a{b', '{a}{b}', '{{a}}', '}{', '{a}b}'])(
    'or the name is refused: %s',
    (name) => expect(() => lockName(name, 512)).toThrow(LockKeyError),
  );
});

it('no lock has a name that is another lock’s queue', () => {
  for (const name of [
    '{k}:queue',
    'a{k}:seen',
    '{k}:fence',
    '{1095}:fence',
    '{k}:version',
    '{k}:holders',
    '{k}:cond:full',
  ]) {
    expect(() => lockName(name, 512)).toThrow(LockKeyError);
  }
});

it.each(['', 'lock:', 'app:lock:'])(
  'no two locks share a key, behind the prefix "%s"',
  (prefix) => {
    const names = [
      'k',
      'k:queue',
      'k:fence',
      '{k}',
      'k:',
      '{k}:',
      'a{k}',
      '{k}a',
      '{k}::',
      'k::',
      'ak',
      `${prefix}k`,
      `{${prefix}k}`,
    ];
    const keys = [...new Set(names)].flatMap((name) => Object.values(lockKeys(prefix, name)));
    expect(new Set(keys).size).toBe(keys.length);
  },
);

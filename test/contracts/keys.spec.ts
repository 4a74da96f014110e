import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LockKeyError } from '../../lib/engine/errors/index.js';
import { lockName } from '../../lib/engine/keys/index.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { fenceKey } from '../../lib/engine/redis/index.js';
import { lockKeys } from '../support/lock-keys.js';

function slots(prefix: string, name: string): number[] {
  return [...new Set(Object.values(lockKeys(prefix, name)).map(slotOf))];
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
      '0',
      '{0}',
      '{0}:x',
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
    const locks = [...new Set(names)].map((name) => lockKeys(prefix, name));
    const own = locks.flatMap(({ fence: _, ...keys }) => Object.values(keys));
    expect(new Set(own).size).toBe(own.length);
    const fences = [fenceKey(prefix, ''), ...locks.map(({ fence }) => fence)];
    expect(own.filter((key) => fences.includes(key))).toEqual([]);
  },
);

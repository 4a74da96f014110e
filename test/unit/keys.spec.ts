import { describe, expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { lockKey, LockKeyError, type LockKeyValue, LockOptionsError } from '../../lib/index.js';
import {
  encodeValue,
  keyReader,
  keyTemplate,
  lockName,
  lockNames,
  type Names,
} from '../../lib/engine/keys/index.js';
import { lockKeys } from '../support/lock-keys.js';

/** The cluster slot of a key, as ioredis counts it. */
const slotOf = createRequire(import.meta.url)('cluster-key-slot') as (key: string) => number;

const NAMES: Names<Record<string, unknown>> = {
  reader: (name) => (source) => source[name],
  owner: 'a test',
  remedy: () => '',
};

/** The three ways a value gets into a key. */
const WAYS: [string, (value: unknown) => string][] = [
  ['a value', (value) => encodeValue(value, 'x')],
  ['lockKey', (value) => lockKey`${value as LockKeyValue}`],
  ['a template', (value) => keyTemplate('<x>', NAMES)({ x: value })],
];

describe.each(WAYS)('%s', (_, keyOf) => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an empty string', ''],
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
    ['an object', {}],
    ['an object with toString', { toString: () => 'x' }],
    ['a Date', new Date(0)],
    ['an array', ['a']],
    ['an empty array', []],
    ['a String object', Object('x')],
    ['a function', () => 'x'],
    ['a symbol', Symbol('x')],
    ['the first half of a surrogate pair', 'a\ud800'],
    ['the second half of a surrogate pair', '\udc00a'],
  ])('refuses %s', (__, value) => {
    expect(() => keyOf(value)).toThrow(LockKeyError);
  });

  it.each<[unknown, string]>([
    ['plain', 'plain'],
    ['Straße 😀', 'Straße 😀'],
    [0, '0'],
    [-0, '0'],
    [1.5, '1.5'],
    [1e21, '1e+21'],
    [12n, '12'],
    [false, 'false'],
    ['a:b', 'a%3Ab'],
    ['{a}', '%7Ba%7D'],
    ['%3A', '%253A'],
    ['a\r\n\u0000\u007f\u0085', 'a%0D%0A%00%7F%C2%85'],
    ['<a>', '<a>'],
  ])('takes %j for %s', (value, key) => {
    expect(keyOf(value)).toBe(key);
  });

  it('refuses what is longer than any key before it is encoded', () => {
    expect(keyOf(':'.repeat(10_000))).toBe('%3A'.repeat(10_000));
    expect(() => keyOf(':'.repeat(10_001))).toThrow(LockKeyError);
    expect(() => keyOf(`${'x'.repeat(10_000)}\ud800`)).toThrow('is longer than 10000 characters');
  });

  it('never repeats a refused value', () => {
    const secret = { password: 'hunter2' };
    expect(() => keyOf(secret)).toThrow(expect.not.objectContaining({ message: /hunter2/ }));
  });
});

const value = fc.oneof(
  fc.string({ minLength: 1, unit: 'binary' }),
  fc.string({ minLength: 1, unit: fc.constantFrom('a', ':', '%', '{', '}', '3', 'A', '\n') }),
);

describe('the values of a key', () => {
  it('lie side by side without touching: a:b + c is not a + b:c', () => {
    expect(lockKey`${'a:b'}:${'c'}`).toBe('a%3Ab:c');
    expect(lockKey`${'a'}:${'b:c'}`).toBe('a:b%3Ac');
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 2, maxLength: 2 }),
        fc.array(value, { minLength: 2, maxLength: 2 }),
        (one, other) => {
          const same = one.every((part, at) => part === other[at]);
          return (lockKey`${one[0]!}:${one[1]!}` === lockKey`${other[0]!}:${other[1]!}`) === same;
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each(['', '-', '.', '_', '/', ',', ' ', '%', '%3A', 'and'])(
    'are refused with %j between them, which may be part of a value',
    (between) => {
      const text = Object.assign(['seat:', between, ''], { raw: [] });
      expect(() => lockKey(text, '1', '2')).toThrow(LockOptionsError);
      const template = `seat:<show>${between}<row>`;
      expect(() => keyTemplate(template, NAMES)).toThrow(LockOptionsError);
    },
  );

  it.each([':', '-:-', '}', '{', '}/{'])(
    'may have %j between them, which is in no value',
    (between) => {
      const text = Object.assign(['seat{', between, '}'], { raw: [] });
      const read = keyTemplate(`seat{<show>${between}<row>}`, NAMES);
      fc.assert(
        fc.property(fc.array(value, { minLength: 4, maxLength: 4 }), ([a, b, c, d]) => {
          const same = a === c && b === d;
          expect(lockKey(text, a!, b!) === lockKey(text, c!, d!)).toBe(same);
          expect(read({ show: a, row: b })).toBe(lockKey(text, a!, b!));
        }),
      );
    },
  );

  it('can be read back, and hold no separator, brace or control character', () => {
    fc.assert(
      fc.property(value, (text) => {
        const encoded = encodeValue(text, 'x');
        expect(encoded).not.toMatch(/[:{}\p{Cc}]/u);
        expect(decodeURIComponent(encoded.replaceAll(/%(?![0-9A-F]{2})/g, '%25'))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never leave the cluster slot of their lock, nor choose it', () => {
    fc.assert(
      fc.property(value, fc.constantFrom('', 'lock:', 'app:{x}:'), (text, prefix) => {
        for (const name of [lockKey`a:${text}:z`, lockKey`{t}:${text}:z`, lockKey`a{${text}}z`]) {
          const keys = lockKeys(prefix, lockName(name, 1e6));
          expect(new Set(Object.values(keys).map(slotOf)).size).toBe(1);
        }
        expect(slotOf(lockKey`{t}:${text}`)).toBe(slotOf('t'));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a literal key', () => {
  const name = (key: unknown): string => lockName(key, 512);

  it.each([
    'a',
    'a:b',
    'Straße 😀',
    'a b',
    'a%b',
    '{tenant}:a',
    'a{b}c',
    'a:queued',
    'queue',
    'a:queue',
  ])('may be %j', (key) => {
    expect(name(key)).toBe(key);
  });

  it.each<[string, unknown]>([
    ['empty', ''],
    ['undefined', undefined],
    ['a number', 7],
    ['an array', ['a']],
    ['an object', {}],
    ['half a surrogate pair', 'a\ud83d'],
    ['a control character', 'a\n'],
    ['a NUL', 'a\u0000'],
    ['a C1 control', 'a\u0085'],
    ['an empty hash tag', 'a{}'],
    ['a brace that is not closed', 'a{b'],
    ['a brace that is not opened', 'a}b'],
    ['braces the wrong way round', '}a{'],
    ['two hash tags', '{a}{b}'],
    ['nested braces', '{{a}}'],
    ['the suffix :queue', '{a}:queue'],
    ['the suffix :seen', '{a}:seen'],
    ['the suffix :fence', '{a}:fence'],
    ['the suffix :version', '{a}:version'],
    ['the suffix :holders', '{a}:holders'],
    ['the suffix :cond', '{a}:cond'],
    ['the suffix :cond:name', '{a}:cond:name'],
  ])('may not be %s', (_, key) => {
    expect(() => name(key)).toThrow(LockKeyError);
  });

  it('has a cap in bytes, not in characters', () => {
    expect(name('x'.repeat(512))).toHaveLength(512);
    expect(() => name('x'.repeat(513))).toThrow('512 bytes');
    expect(() => name('ß'.repeat(257))).toThrow('512 bytes');
    expect(() => name('x'.repeat(1_000_000))).toThrow(LockKeyError);
  });

  it('keeps all its Redis keys in the slot of the plain one', () => {
    for (const key of ['a', '{t}:a', 'a{t}b']) {
      const keys = lockKeys('lock:', key);
      expect(keys.lock).toBe(`lock:${key}`);
      expect(new Set(Object.values(keys).map(slotOf)).size).toBe(1);
    }
  });
});

describe('a list of keys', () => {
  it.each([[{ 1: 'b' }], [{ 0: 'a', 2: 'c' }]])('may not have gaps: %j', (given) => {
    const keys: string[] = Object.assign([], given);
    expect(() => lockNames(keys, 512)).toThrow('is a string, not undefined');
    expect(() => keyReader(keys, NAMES)).toThrow(LockOptionsError);
  });
});

describe('a template', () => {
  it.each(['<', '>', 'a<b', 'a>b', '<>', '<a b>', '<a.>', '<.a>', '<a..b>', '<<a>>', '', '<a[0]>'])(
    'may not be %j',
    (template) => {
      expect(() => keyTemplate(template, NAMES)).toThrow(LockOptionsError);
    },
  );

  it('reads paths of any depth, and header names', () => {
    const read = keyTemplate('<a.b.0.c>:<h.x-id>', NAMES);
    expect(read({ a: { b: [{ c: 1 }] }, h: { 'x-id': 'y' } })).toBe('1:y');
    expect(() => read({ a: null, h: {} })).toThrow(LockKeyError);
  });
});

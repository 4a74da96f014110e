import { describe, expect, it } from '@jest/globals';
import { Locked, LockedRequest, LockOptionsError } from '../../lib/index.js';

describe('@Locked fails where it stands', () => {
  const locked = (options: unknown, ...where: unknown[]): unknown =>
    (Locked as (...args: unknown[]) => (...where: unknown[]) => void)('a', options)(...where);

  it.each<[string, object]>([
    ['ttl', { ttl: 1 }],
    ['wait', { wait: 'soon' }],
    ['tll', { tll: '1s' }],
    ['onBusy', { onBusy: 'skpi' }],
    ['onLost', { onLost: 'ignroe' }],
    ['onUnavailable', { onUnavailable: 'run' }],
    ['returns', { returns: 'stream' }],
    ['module', { module: 7 }],
  ])('when option "%s" is wrong: %j', (name, options) => {
    const decorate = (): unknown =>
      locked(options, class Service {}.prototype, 'work', { value: async () => {} });
    expect(decorate).toThrow(LockOptionsError);
    expect(decorate).toThrow(`"${name}"`);
    if (name === 'returns') return;
    const request = (): unknown => LockedRequest('a', options);
    expect(request).toThrow(LockOptionsError);
    expect(request).toThrow(`"${name}"`);
  });

  it.each<[string, unknown[], string]>([
    ['a static method', [class S {}, 'work', { value: async () => {} }], 'static method S.work'],
    ['a getter', [{}, 'value', { get: () => 1 }], 'not a method'],
    ['a value', [{}, 'value', { value: 7 }], 'not a method'],
    ['a property', [{}, 'value'], 'not a method'],
    ['a class', [class S {}], 'the class S'],
    ['a parameter of a method', [class S {}.prototype, 'work', 0], 'a parameter of S.work'],
    ['a parameter of a constructor', [class S {}, undefined, 0], 'a parameter of S'],
    ['a standard decorator’s place', [async () => {}, { kind: 'method', name: 'x' }], 'standard'],
  ])('on %s', (_, where, message) => {
    const decorate = (): unknown => locked({}, ...where);
    expect(decorate).toThrow(LockOptionsError);
    expect(decorate).toThrow(message);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Controller, Get, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  LeaderOnly,
  Locked,
  LockedRequest,
  LockOptionsError,
  LockService,
} from '../../lib/index.js';
import { LockTestingModule, type LockTestingOptions } from '../../lib/memory/testing/index.js';

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
    ['maxHold', { ttl: '20s', maxHold: '10s' }],
    ['minHold', { minHold: '20s', maxHold: '10s' }],
    ['minHold', { minHold: '20s', renew: false, ttl: '10s' }],
  ])('when option "%s" is wrong: %j', (name, options) => {
    const decorate = (): unknown =>
      locked(options, class Service {}.prototype, 'work', { value: async () => {} });
    expect(decorate).toThrow(LockOptionsError);
    expect(decorate).toThrow(`"${name}"`);
    expect(decorate).toThrow(/^@Locked on Service\.work: /);
    if (name === 'returns') return;
    const request = (): unknown => LockedRequest('a', options);
    expect(request).toThrow(LockOptionsError);
    expect(request).toThrow(`"${name}"`);
  });

  it.each<[string, object]>([
    ['maxHold', { maxHold: '20s' }],
    ['minHold', { minHold: '25s', maxHold: '25s' }],
    ['minHold', { minHold: '25s', renew: false }],
  ])('but not for an "%s" that only some modules contradict: %j', (_, options) => {
    locked(options, class Service {}.prototype, 'work', { value: async () => {} });
    LockedRequest('a', options);
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

it('@LeaderOnly with a wrong ttl says on which method it stands', () => {
  const decorate = (): unknown =>
    LeaderOnly('a', { ttl: 1 })(class Service {}.prototype, 'work', { value: async () => {} });
  expect(decorate).toThrow(/^@LeaderOnly on Service\.work: Option "ttl" is 1;/);
});

describe('a key with a name in plain text', () => {
  const keyed = (key: string | string[]): (() => unknown) => {
    class Accounts {
      async work(_id: string, _user: { id: string }): Promise<void> {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Accounts.prototype, 'work')!;
    return () => Locked(key)(Accounts.prototype, 'work', descriptor);
  };

  it.each([
    ['a:{_id}', '{_id}', '<_id>'],
    ['a:${_id}', '${_id}', '<_id>'],
    ['{_user.id}:a', '{_user.id}', '<_user.id>'],
    ['a:{_id}:{_user.id}', '{_id}', '<_id>'],
    ['a::_id', ':_id', '<_id>'],
    ['a/:_id/b', ':_id', '<_id>'],
    [':_id', ':_id', '<_id>'],
    ['a:<_user.id>:{_id}', '{_id}', '<_id>'],
  ])('%s is refused, for all calls would share one lock', (key, found, remedy) => {
    const message = `The key "${key}" of @Locked on Accounts.work contains ${found}, which is plain text: write ${remedy}.`;
    expect(keyed(key)).toThrow(new LockOptionsError(message));
    expect(keyed(['b', key])).toThrow(new LockOptionsError(message));
  });

  it.each([
    'a:{tag}:<_id>',
    '{<_id>}:a',
    'a:_id',
    'a:{<_user.id>}',
    'a::<_id>',
    'a::b',
    'a:_id:{b}',
  ])('%s is none', (key) => {
    keyed(key)();
  });

  it('is refused in a request too', () => {
    expect(() => LockedRequest('a:{params.id}')).toThrow(
      'The key "a:{params.id}" of @LockedRequest contains {params.id}, which is plain text: write <params.id>.',
    );
  });
});

describe('options that contradict the module are refused at start-up:', () => {
  const grace: LockTestingOptions = { durability: 'refuse', ttl: '30s' };
  const quorum: LockTestingOptions = { nodes: ['redis://a', 'redis://b'] };

  class Leading {
    @LeaderOnly('feed', { ttl: '1m' })
    async work(): Promise<void> {}
  }
  class Long {
    @Locked('feed:<_id>', { ttl: '1m' })
    async work(_id: string): Promise<void> {}
  }
  class Held {
    @Locked('feed', { maxHold: '20s' })
    async work(): Promise<void> {}
  }
  class Permitted {
    @Locked('feed', { permits: 2 })
    async work(): Promise<void> {}
  }
  class Foreign {
    @Locked('feed', { dialect: 'redlock' })
    async work(): Promise<void> {}
  }
  @Controller()
  class Routes {
    @LockedRequest('feed', { maxHold: '20s' })
    @Get()
    async work(): Promise<void> {}
  }

  it.each<[string, LockTestingOptions, Type<object>]>([
    ['Lock "leader:feed" was asked for with a ttl of 60000 ms', grace, Leading],
    ['@Locked on Long.work: Lock "feed:<_id>" was asked for with a ttl of 60000', grace, Long],
    ['@Locked on Held.work: Option "maxHold" must be at least "ttl"', {}, Held],
    ['@Locked on Permitted.work: A quorum cannot share a lock', quorum, Permitted],
    ['@Locked on Foreign.work: Dialect "redlock" and option "nodes"', quorum, Foreign],
    ['@LockedRequest on Routes.work: Option "maxHold" must be at least', {}, Routes],
  ])('%s', async (message, options, type) => {
    const parts = type === Routes ? { controllers: [type] } : { providers: [type] };
    const starting = async (given: LockTestingOptions): Promise<void> => {
      const imports = [LockTestingModule.forRoot(given)];
      const module = await Test.createTestingModule({ imports, ...parts }).compile();
      const app = module.createNestApplication({ logger: false });
      await app.init();
      await app.close();
    };
    await expect(starting(options)).rejects.toThrow(message);
    await expect(starting(options)).rejects.toThrow(LockOptionsError);
    await starting({ ttl: '10s' });
  });

  it('where a test has put something else in the place of the service, nothing is checked', async () => {
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot()],
      providers: [Held],
    })
      .overrideProvider(LockService)
      .useValue({ withLock: async () => {} })
      .compile();
    await module.init();
    await module.close();
  });
});

it('without the module, an application and a test are told what to import', async () => {
  class Service {
    @Locked('a')
    async work(): Promise<void> {}
  }
  await expect(Test.createTestingModule({ providers: [Service] }).compile()).rejects.toThrow(
    '@Locked or @LeaderOnly on Service.work needs a LockService, and no module provides it: import RedisLockModule.forRoot(); in a test LockTestingModule.forRoot() from "nest-redis-lock/testing".',
  );
});

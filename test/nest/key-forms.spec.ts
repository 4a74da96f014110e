import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  Controller,
  Get,
  Headers,
  Injectable,
  Param,
  Query,
} from '@nestjs/common';
import {
  CurrentLease,
  Lease,
  Locked,
  lockKey,
  LockKey,
  LockKeyError,
  LockOptionsError,
} from '../../lib/index.js';
import { useBench } from '../support/nest-app.js';
import { Hidden, Keys } from './keys-of-methods.js';

const bench = useBench();

describe('the key of @Locked', () => {
  let keys: Keys;
  beforeAll(async () => {
    keys = (await bench.app({ providers: [Keys] })).get(Keys);
  });

  it('is a text, with the values of arguments in it', async () => {
    expect(await keys.literal()).toBe('nightly-import');
    expect(await keys.named('x', 7)).toBe('a:x:7');
    expect(await keys.named(12n, true)).toBe('a:12:true');
  });

  it('reads deep into an argument', async () => {
    expect(await keys.path({ owner: { id: 3 } })).toBe('doc:3');
    expect(await keys.element({ owner: { id: 3, tags: ['a', 'b'] } })).toBe('doc:b');
  });

  it('takes positions for names', async () => {
    expect(await keys.position({ owner: { id: 'o' } }, 9)).toBe('position:9:o');
  });

  it('finds names behind defaults, comments and patterns', async () => {
    expect(await keys.defaults(undefined, undefined, '5')).toBe('3)5 fn:5');
    expect(
      await keys.destructured({ id: '1', address: { city: 'x' } }, ['a', 'b'], { old: 'k' }),
    ).toBe('1xbk fn:1:x:b:k');
    expect(await keys.rest('a', 'b', 'c')).toBe('abc');
    expect(await keys.parts('a', 'b', { city: 'c' })).toBe('bc');
  });

  it('finds names in a method that uses #private fields', async () => {
    expect(await keys.privately('1')).toBe('secret private:1');
  });

  it('takes the name that @LockKey gives, also above a wrapper that hides the source', async () => {
    expect(await keys.marked(0, 'm')).toBe('m marked:m');
    expect(await keys.hidden('h')).toBe('h hidden:h');
    expect(await keys.hiddenPosition('h')).toBe('hidden:h');
  });

  it('is made by a function of the arguments', async () => {
    expect(await keys.computed('a:b', { owner: { id: 1 } })).toBe('fn:a%3Ab:1');
    await expect(keys.wrong()).rejects.toThrow(LockKeyError);
    await expect(keys.failing()).rejects.toThrow(new RangeError('no tenant'));
  });

  it('is made by a function that has the object as `this`, as onBusy has', async () => {
    @Injectable()
    class Regional {
      readonly region = 'eu';

      @Locked(
        function (this: Regional, id: string) {
          return lockKey`${this.region}:${id}`;
        },
        {
          wait: 0,
          reentrant: false,
          onBusy(this: Regional) {
            return `busy in ${this.region}`;
          },
        },
      )
      async work(id: string, again = false, @CurrentLease() lease?: Lease): Promise<string> {
        return again ? this.work(id) : lease!.key;
      }
    }
    const regional = (await bench.app({ providers: [Regional] })).get(Regional);
    expect(await regional.work('1')).toBe('eu:1');
    expect(await regional.work('1', true)).toBe('busy in eu');
  });

  it('stands in a decorator of one’s own', async () => {
    const Tenant = (): MethodDecorator =>
      applyDecorators(Locked('tenant:<id>'), Locked('own:<id>'));
    class Tenants {
      @Tenant()
      async work(@LockKey('id') _id: string, @CurrentLease() lease?: Lease): Promise<string> {
        return lease!.key;
      }
    }
    const tenants = (await bench.app({ providers: [Tenants] })).get(Tenants);
    expect(await tenants.work('1')).toBe('tenant:1');
  });

  it('is computed once, before the method runs', async () => {
    const locks = await bench.rival();
    await keys.consumed({ id: '1' });
    expect((await locks.inspect('queue:1')).state).toBe('free');
  });

  it('may carry a hash tag that no value can break out of', async () => {
    expect(await keys.hashTag('1')).toBe('tenant:{1}:jobs');
    expect(await keys.hashTag('}{')).toBe('tenant:{%7D%7B}:jobs');
  });

  it('works for a method named by a symbol', async () => {
    expect(await keys[Symbol.for('work') as never as 'hashTag']('1')).toBe('1');
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty string', ''],
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['an object', {}],
    ['an array', ['a']],
    ['a Date', new Date(0)],
    ['half a surrogate pair', '\ud800'],
  ])('is refused when a value is %s, and the method does not run', async (_, value) => {
    await expect(keys.named(value, 'x')).rejects.toThrow(LockKeyError);
    await expect(keys.path({ owner: { id: value } })).rejects.toThrow(LockKeyError);
    await expect(keys.path(undefined)).rejects.toThrow(LockKeyError);
  });

  it('is never shown in the error with the value that a request brought', async () => {
    const secret = { token: 'hunter2' };
    await expect(keys.named(secret, 'x')).rejects.toThrow(
      '<id> in the lock\'s key "a:<id>:<other>" is an object',
    );
  });

  it('has a cap on its length', async () => {
    await expect(keys.named('x'.repeat(1_000), 'x')).rejects.toThrow('512 bytes');
    await expect(keys.named('x'.repeat(1_000_000), 'x')).rejects.toThrow('10000 characters');
  });
});

describe('a route’s parameters give names to the key', () => {
  @Controller()
  class Orders {
    @Get(':id')
    @Locked('order:<id>:<from>')
    async get(
      @Query('from') e: string,
      @Param('id') t: string,
      @CurrentLease() n?: Lease,
    ): Promise<string> {
      return `${e}${t} ${n!.key}`;
    }

    @Get()
    @Locked('order:<id>')
    async twice(
      @Query('id') id: string,
      @Headers('id') other: string,
      @CurrentLease() lease?: Lease,
    ): Promise<string> {
      return `${id}${other} ${lease!.key}`;
    }
  }

  it('by the names of the route, although a minifier changed the variables', async () => {
    const orders = (await bench.app({ controllers: [Orders] })).get(Orders);
    expect(await orders.get('f', '1')).toBe('f1 order:1:f');
  });

  it('but none that the source gives to another, where the decorator stands', () => {
    expect(() => {
      class Transfers {
        @Get()
        @Locked('account:<id>')
        async transfer(@Query('from') id: string, @Query('id') to: string): Promise<string> {
          return id + to;
        }
      }
      return Transfers;
    }).toThrow(
      'The route gives "id" to one parameter, and the source calls another so. Mark the parameter with @LockKey(\'id\')',
    );
  });

  it('by the variable where the route uses one name twice', async () => {
    const orders = (await bench.app({ controllers: [Orders] })).get(Orders);
    expect(await orders.twice('query', 'header')).toBe('queryheader order:query');
  });
});

it('of an override is made of its own marks and parameters', async () => {
  class Payments {
    @Locked('order:<id>')
    async pay(
      @LockKey('id') order: string,
      account: string,
      @CurrentLease() lease?: Lease,
    ): Promise<string> {
      return `${order}${account} ${lease!.key}`;
    }
  }
  class AccountPayments extends Payments {
    @Locked('account:<id>')
    override async pay(order: string, id: string, @CurrentLease() lease?: Lease): Promise<string> {
      return `${order}${id} ${lease!.key}`;
    }
  }
  const payments = (await bench.app({ providers: [AccountPayments] })).get(AccountPayments);
  expect(await payments.pay('o', 'a')).toBe('oa account:a');
});

describe('a key that cannot work fails where the decorator stands', () => {
  const decorate = (key: string): (() => unknown) => {
    const prototype = class Service {
      async work(id: string): Promise<string> {
        return id;
      }
    }.prototype;
    return () =>
      Locked(key)(
        prototype,
        'work',
        Object.getOwnPropertyDescriptor(prototype, 'work') as TypedPropertyDescriptor<
          (id: string) => Promise<string>
        >,
      );
  };

  it.each([
    ['an unknown name, with those there are', 'a:<ID>', /names <ID>.*Names here: id\..*@LockKey/],
    ['a hole without a name', 'a:<>', '<name>'],
    ['an expression in a hole', 'a:<id + 1>', '<name>'],
    ['a hole that is not closed', 'a:<id', 'without its partner'],
    ['a hole that is not opened', 'a:id>', 'without its partner'],
    ['a hole inside a hole', 'a:<<id>>', 'without its partner'],
    ['a control character', 'a:\n<id>', 'control character'],
    ['braces that are no hash tag', 'a:}{<id>', 'hash tag'],
    ['a suffix that Redis keys of the lock use', '{a}:<id>:queue', 'suffix'],
  ])('%s', (_, key, message) => {
    expect(decorate(key)).toThrow(message);
  });

  it.each([[''], [undefined], [7], [{}], [[]], [['a', 7]], [['a', '']]])('%p', (key) => {
    expect(decorate(key as string)).toThrow(/LockOptionsError|key/);
  });

  it('a name beneath a wrapper that hides the source', () => {
    expect(() => {
      class Service {
        @Locked('a:<id>')
        @Hidden
        async work(id: string): Promise<string> {
          return id;
        }
      }
      return Service;
    }).toThrow(LockOptionsError);
  });
});

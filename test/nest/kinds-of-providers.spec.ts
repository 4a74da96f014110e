import { describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type DynamicModule,
  Get,
  Global,
  Inject,
  Injectable,
  Module,
  type PipeTransform,
  Query,
  Scope,
  UseGuards,
} from '@nestjs/common';
import { LazyModuleLoader, ModuleRef } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  CurrentLease,
  Lease,
  Locked,
  LockOptionsError,
  LockService,
  RedisLockModule,
} from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import {
  Base,
  Import,
  Inheriting,
  Overriding,
  PerRequest,
  SameKey,
  Transient,
} from './providers-of-every-kind.js';

const bench = useBench();

describe('@Locked holds for', () => {
  it('a plain provider, and one that inherits the method', async () => {
    const app = await bench.app({ providers: [Base, Inheriting] });
    expect(await app.get(Base).work('1')).toBe('base 1 base:1 true');
    expect(await app.get(Inheriting).work('2')).toBe('base 2 base:2 true');
    expect(app.get(Inheriting).modules).toBeInstanceOf(ModuleRef);
  });

  it('an override and the method beneath it, each with its own key', async () => {
    const app = await bench.app({ providers: [Overriding, SameKey] });
    expect(await app.get(Overriding).work('1')).toBe('over:1 over base 1 base:1 true');
    expect(await app.get(SameKey).work('2')).toBe('same base 2 base:2 true');
  });

  it('a subclass of an abstract base, with #private fields', async () => {
    const app = await bench.app({ providers: [Import] });
    expect(await app.get(Import).run('1')).toBe('import job:1 13');
  });

  it('every instance of a transient provider', async () => {
    const app = await bench.app({ providers: [Transient] });
    const [one, other] = [await app.resolve(Transient), await app.resolve(Transient)];
    expect(one).not.toBe(other);
    expect(await one.work('1')).toBe('base 1 base:1 true');
    expect(await other.work('1')).toBe('base 1 base:1 true');
  });

  it('what stands behind another token, by useClass and useExisting', async () => {
    const app = await bench.app({
      providers: [
        Base,
        { provide: 'class', useClass: Base },
        { provide: 'same', useExisting: Base },
      ],
    });
    expect(await app.get<Base>('class').work('1')).toBe('base 1 base:1 true');
    expect(app.get('same')).toBe(app.get(Base));
  });

  it('a provider that ModuleRef makes, and one of a module that is loaded later', async () => {
    @Module({ providers: [Base] })
    class Later {}
    const app = await bench.app({});
    const made = await app.get(ModuleRef).create(Base);
    expect(await made.work('1')).toBe('base 1 base:1 true');
    const later = await app.get(LazyModuleLoader).load(() => Later);
    expect(await later.get(Base).work('1')).toBe('base 1 base:1 true');
  });

  it('a class without @Injectable', async () => {
    class Plain {
      @Locked('plain:<id>')
      async work(id: string): Promise<string> {
        return id;
      }
    }
    expect(await (await bench.app({ providers: [Plain] })).get(Plain).work('1')).toBe('1');
  });

  it('two decorators on one method, the upper one outside', async () => {
    @Injectable()
    class Twice {
      constructor(readonly locks: LockService) {}

      @Locked('outer:<id>')
      @Locked('inner:<id>')
      async work(id: string): Promise<(string | boolean | undefined)[]> {
        const { key } = this.locks.current()!;
        return [key, this.locks.current(`outer:${id}`)?.held, this.locks.current('none')?.key];
      }
    }
    const twice = (await bench.app({ providers: [Twice] })).get(Twice);
    expect(await twice.work('1')).toEqual(['inner:1', true, undefined]);
  });
});

describe.each(PLATFORMS)('@Locked holds on %s for', (platform) => {
  it('request-scoped providers and controllers, guards and pipes', async () => {
    const seen: string[] = [];

    @Injectable()
    class Guard implements CanActivate {
      @Locked('guard')
      async canActivate(@CurrentLease() _0?: unknown, @CurrentLease() lease?: Lease) {
        seen.push(`guard ${lease!.held}`);
        return true;
      }
    }

    @Injectable()
    class Pipe implements PipeTransform {
      @Locked('pipe:<value>')
      async transform(value: string): Promise<string> {
        seen.push('pipe');
        return `${value}!`;
      }
    }

    @Controller({ scope: Scope.REQUEST })
    class Things {
      constructor(private readonly thing: PerRequest) {}

      @Locked('things')
      @UseGuards(Guard)
      @Get('things')
      async get(@Query('id', Pipe) id: string): Promise<string> {
        return this.thing.work(id);
      }
    }
    const { url } = await bench.server(platform, {
      controllers: [Things],
      providers: [PerRequest],
    });
    const bodies = await Promise.all(
      ['a', 'b'].map(async (id) => (await fetch(`${url}/things?id=${id}`)).text()),
    );
    expect(bodies).toEqual(['/things?id=a request:a! a!', '/things?id=b request:b! b!']);
    expect(seen.sort()).toEqual(['guard true', 'guard true', 'pipe', 'pipe']);
  });
});

describe('@Locked says clearly that it cannot lock, and runs nothing, for', () => {
  const expectRefusal = async (base: Base, remedy: string): Promise<void> => {
    Base.runs = 0;
    const refused = base.work('1');
    await expect(refused).rejects.toThrow(LockOptionsError);
    await expect(refused).rejects.toThrow(remedy);
    expect(Base.runs).toBe(0);
  };

  it('an object made by `new`', () => expectRefusal(new Base(), 'not `new`'));

  it('an object that calls it in its constructor', async () => {
    @Injectable()
    class Hasty extends Base {
      readonly early = this.work('1').catch((error: unknown) => error);
    }
    const app = await bench.app({ providers: [Hasty] });
    expect(await app.get(Hasty).early).toBeInstanceOf(LockOptionsError);
    expect(await app.get(Hasty).early).toMatchObject({
      message: expect.stringContaining('A constructor runs too early for it: use onModuleInit'),
    });
    expect(await app.get(Hasty).work('2')).toBe('base 2 base:2 true');
  });

  it('an object that a test gave something else for a LockService', async () => {
    const module = await Test.createTestingModule({
      providers: [Base, { provide: LockService, useValue: { withLock: async () => {} } }],
    }).compile();
    await expectRefusal(module.get(Base), 'memoryLockService()');
    const mocked = await Test.createTestingModule({ providers: [Base] })
      .useMocker(() => ({}))
      .compile();
    await expectRefusal(mocked.get(Base), 'memoryLockService()');
  });

  it('a method that was taken off its object', async () => {
    const work = Base.prototype.work.bind(undefined as never);
    await expect(work('1')).rejects.toThrow(LockOptionsError);
  });
});

describe('@Locked holds for an object that Nest did not make, or that is not called itself:', () => {
  const work = async (base: Base): Promise<void> =>
    expect(await base.work('1')).toBe('base 1 base:1 true');

  it('of useFactory and useValue', async () => {
    const app = await bench.app({
      providers: [
        { provide: 'factory', useFactory: () => new Base() },
        { provide: 'later', useFactory: async () => new Inheriting() },
        { provide: 'value', useValue: new Base() },
      ],
    });
    for (const token of ['factory', 'later', 'value']) await work(app.get(token));
  });

  it('of a useFactory that is called for each request or each consumer', async () => {
    @Injectable()
    class Consumer {
      constructor(@Inject('transient') readonly base: Base) {}
    }
    const app = await bench.app({
      providers: [
        PerRequest,
        Consumer,
        { provide: 'request', inject: [PerRequest], useFactory: () => new Base() },
        { provide: 'later', scope: Scope.REQUEST, useFactory: async () => new Base() },
        { provide: 'transient', scope: Scope.TRANSIENT, useFactory: () => new Base() },
      ],
    });
    for (const token of ['request', 'later', 'transient']) await work(await app.resolve(token));
    await work(app.get(Consumer).base);
  });

  it('of useFactory, before the hooks of its own module run', async () => {
    const said: string[] = [];
    class Eager extends Base {
      async onModuleInit(): Promise<void> {
        said.push(await this.work('1'));
      }
    }
    @Module({ providers: [{ provide: 'eager', useFactory: () => new Eager() }] })
    class Feature {}
    await bench.app({ imports: [Feature] });
    expect(said).toEqual(['base 1 base:1 true']);
  });

  it.each([true, false])(
    'of useFactory in a global module that comes first, before its hooks run, isGlobal: %s',
    async (isGlobal) => {
      const said: string[] = [];
      class Migrator extends Base {
        async onModuleInit(): Promise<void> {
          said.push(await this.work('1'));
        }
      }
      const locks = RedisLockModule.forRoot({ redis: bench.redis.url, isGlobal });
      @Global()
      @Module({
        imports: isGlobal ? [] : [locks],
        providers: [{ provide: 'migrator', useFactory: () => new Migrator() }],
      })
      class Database {}
      const module = await Test.createTestingModule({ imports: [Database, locks] }).compile();
      await bench.use(module.createNestApplication({ logger: false }));
      expect(said).toEqual(['base 1 base:1 true']);
    },
  );

  it('of useValue, in the application that was started last', async () => {
    const value = new Base();
    for (let round = 0; round < 2; round += 1) {
      const app = await bench.app({ providers: [{ provide: 'value', useValue: value }] });
      await work(app.get('value'));
      await app.close();
    }
  });

  it('a Proxy around it, and an object derived from it', async () => {
    const app = await bench.app({ providers: [Base] });
    const base = app.get(Base);
    await work(new Proxy(base, {}));
    await work(new Proxy(base, { get: (target, name, self) => Reflect.get(target, name, self) }));
    await work(Object.create(base) as Base);
    await work(Object.create(new Proxy(base, {})) as Base);
    await work(new Proxy(Object.create(base) as Base, {}));
  });

  it('a Proxy that useFactory brings', async () => {
    const app = await bench.app({
      providers: [
        Base,
        { provide: 'new', useFactory: () => new Proxy(new Base(), {}) },
        { provide: 'made', inject: [Base], useFactory: (base: Base) => new Proxy(base, {}) },
      ],
    });
    await work(app.get('new'));
    await work(app.get('made'));
  });

  it('one that is frozen', async () => {
    @Injectable()
    class Frozen extends Base {
      constructor() {
        super();
        Object.freeze(this);
      }
    }
    const app = await bench.app({ providers: [Frozen] });
    await work(app.get(Frozen));
  });

  it('each application’s own, and nothing of it is seen in the object', async () => {
    const apps = await Promise.all(
      ['one:', 'two:'].map((keyPrefix) => bench.app({ providers: [Base] }, { keyPrefix })),
    );
    const held = apps.map((app) => app.get(LockService).acquire('base:1', { wait: 0 }));
    for (const lease of await Promise.all(held)) await lease.release();
    const [one, two] = apps.map((app) => app.get(Base));
    const other = await apps[0]!.get(LockService).acquire('base:1');
    await work(two!);
    const blocked = one!.work('1');
    await other.release();
    expect(await blocked).toBe('base 1 base:1 true');
    expect(Reflect.ownKeys(Object.assign({}, one))).toEqual(['made']);
    expect(one).toEqual(Object.assign(new Base(), { made: one!.made }));
  });
});

describe('an application does not start, and says by name why,', () => {
  it('without any RedisLockModule', async () => {
    const starting = Test.createTestingModule({ providers: [Overriding] }).compile();
    await expect(starting).rejects.toThrow(LockOptionsError);
    await expect(starting).rejects.toThrow('Base.work needs a LockService');
    await expect(starting).rejects.toThrow('import RedisLockModule.forRoot()');
  });

  it('with a module that does not import a RedisLockModule that is not global', async () => {
    @Module({ providers: [Base], exports: [Base] })
    class Elsewhere {}
    const starting = bench.app({ imports: [Elsewhere] }, { isGlobal: false });
    await expect(starting).rejects.toThrow(LockOptionsError);
    await expect(starting).rejects.toThrow(/^Base has .* but Elsewhere does not import/);
  });

  it('with RedisLockModule itself among the imports', async () => {
    const starting = Test.createTestingModule({ imports: [RedisLockModule] }).compile();
    await expect(starting).rejects.toThrow(LockOptionsError);
    await expect(starting).rejects.toThrow('write RedisLockModule.forRoot()');
  });

  it('but starts where a test brings a LockService of its own', async () => {
    const module = await Test.createTestingModule({
      providers: [Base, { provide: LockService, useValue: memoryLockService() }],
    }).compile();
    expect(await module.get(Base).work('1')).toBe('base 1 base:1 true');
  });
});

describe('a RedisLockModule that is not global', () => {
  it('serves the modules that import it', async () => {
    const locks: DynamicModule = RedisLockModule.forRoot({
      redis: bench.redis.url,
      isGlobal: false,
    });
    @Module({ imports: [locks], providers: [Base], exports: [Base] })
    class Bank {}
    const module = await Test.createTestingModule({ imports: [Bank, locks] }).compile();
    const app = await bench.use(module.createNestApplication({ logger: false }));
    expect(await app.get(Base).work('1')).toBe('base 1 base:1 true');
  });
});

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type DynamicModule, Injectable, Logger, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis, type RedisOptions } from 'ioredis';
import {
  InjectLockService,
  Locked,
  LockedRequest,
  LockOptionsError,
  LockService,
  LockStoreError,
  RedisLockModule,
  type RedisLockOptions,
  type RedisLockOptionsFactory,
} from '../../lib/index.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { NestBench } from '../support/nest-app.js';

let bench: NestBench;
let admin: Redis;
beforeAll(async () => {
  bench = await NestBench.start();
  admin = new Redis(bench.redis.url);
});
afterAll(async () => {
  admin.disconnect();
  await bench.stop();
});

const start = async (...imports: DynamicModule[]) => {
  const module = await Test.createTestingModule({ imports }).compile();
  return bench.use(module.createNestApplication({ logger: false }));
};

async function protectedRedis(password: string, args: string[] = []): Promise<RedisProcess> {
  const redis = await RedisProcess.start({ args });
  const client = new Redis(redis.url);
  await client.config('SET', 'requirepass', password);
  client.disconnect();
  return redis;
}

/** The Redis keys that hold a lock named `key` taken by this application. */
async function redisKeys(locks: LockService, key: string): Promise<string[]> {
  await admin.flushall();
  const lease = await locks.acquire(key);
  const keys = await admin.keys('*');
  await lease.release();
  return keys.filter((name) => name.includes(key) && !name.startsWith('{'));
}

@Injectable()
class Factory implements RedisLockOptionsFactory {
  createRedisLockOptions(): RedisLockOptions {
    return { redis: bench.redis.url, keyPrefix: 'factory:' };
  }
}

@Module({ providers: [Factory], exports: [Factory] })
class Config {}

describe('RedisLockModule finds its options', () => {
  it.each<[string, () => DynamicModule, string]>([
    ['in forRoot', () => RedisLockModule.forRoot({ redis: bench.redis.url }), 'lock:k'],
    [
      'in ioredis options with a prefix',
      () => RedisLockModule.forRoot({ redis: { port: bench.redis.port, keyPrefix: 'app:' } }),
      'app:lock:k',
    ],
    [
      'from useFactory, with what is injected',
      () =>
        RedisLockModule.forRootAsync({
          imports: [Config],
          inject: [Factory],
          useFactory: async (factory: Factory) => factory.createRedisLockOptions(),
        }),
      'factory:k',
    ],
    ['from useClass', () => RedisLockModule.forRootAsync({ useClass: Factory }), 'factory:k'],
    [
      'from useExisting',
      () => RedisLockModule.forRootAsync({ imports: [Config], useExisting: Factory }),
      'factory:k',
    ],
  ])('%s', async (_, module, expected) => {
    const app = await start(module());
    expect(await redisKeys(app.get(LockService), 'k')).toEqual([expected]);
  });

  it('with defaults for all calls, which a call may change', async () => {
    const app = await bench.app({}, { fencing: false, wait: 0 });
    const locks = app.get(LockService);
    const lease = await locks.acquire('a');
    expect(() => lease.fencingToken).toThrow(LockOptionsError);
    await expect(locks.acquire('a')).rejects.toMatchObject({ waited: 0 });
    expect((await locks.acquire('b', { fencing: true })).fencingToken).toBeGreaterThan(0);
  });
});

describe('a client of the application', () => {
  const settings = (): RedisOptions => ({
    port: bench.redis.port,
    db: 3,
    keyPrefix: 'app:',
    commandTimeout: 50,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
  });

  it('is copied: same server, db and prefix; itself neither used, altered nor closed', async () => {
    const client = new Redis(settings());
    await client.ping();
    const before = {
      options: { ...client.options },
      listeners: client.eventNames().map((name) => [name, client.listenerCount(name)]),
    };
    const app = await start(RedisLockModule.forRoot({ redis: client }));
    const lease = await app.get(LockService).acquire('mine');
    const other = new Redis({ port: bench.redis.port, db: 3 });
    expect(await other.exists('app:lock:mine')).toBe(1);
    expect(await client.exists('lock:mine')).toBe(1);
    expect(await lease.release()).toBe(true);
    await app.close();
    expect(client.status).toBe('ready');
    expect({ ...client.options }).toEqual(before.options);
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(
      before.listeners,
    );
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
    other.disconnect();
  });

  it('that is lazy stays unconnected', async () => {
    const client = new Redis({ ...settings(), lazyConnect: true });
    const app = await start(RedisLockModule.forRoot({ redis: client }));
    await app.get(LockService).withLock('lazy', () => undefined);
    expect(client.status).toBe('wait');
    await app.close();
  });
});

describe('with lazyConnect', () => {
  it('an application starts without Redis, and connects at the first call', async () => {
    const redis = await RedisProcess.start();
    await redis.kill();
    const app = await start(RedisLockModule.forRoot({ redis: redis.url, lazyConnect: true }));
    await redis.run();
    expect(await app.get(LockService).withLock('a', (lease) => lease.held)).toBe(true);
    await app.close();
    await redis.stop();
  });
});

describe('an application does not start', () => {
  it('when Redis cannot be reached: in bounded time, naming the address, no credentials', async () => {
    const port = await freePort();
    const since = performance.now();
    const starting = start(
      RedisLockModule.forRoot({ redis: `redis://admin:hunter2@127.0.0.1:${port}/2` }),
    );
    const error = (await starting.catch((reason: unknown) => reason)) as Error;
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error.message).toContain(`127.0.0.1:${port}/2`);
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/hunter2|admin/);
    expect(performance.now() - since).toBeLessThan(6_000);
  });

  it('with a wrong password: at once, without showing it', async () => {
    const redis = await protectedRedis('correct');
    for (const login of ['', 'admin:hunter2@', ':hunter2@']) {
      const starting = start(
        RedisLockModule.forRoot({ redis: `redis://${login}127.0.0.1:${redis.port}` }),
      );
      const error = (await starting.catch((reason: unknown) => reason)) as Error;
      expect(error).toBeInstanceOf(LockStoreError);
      expect(error.message).toMatch(/NOAUTH|WRONGPASS/);
      expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/hunter2|admin|correct/);
    }
    await redis.stop();
  });

  it.each<[string, object]>([
    ['ttl', { ttl: '30 seconds' }],
    ['wait', { wait: -1 }],
    ['renew', { renew: 'yes' }],
    ['keyPrefix', { keyPrefix: '{a}' }],
    ['redis', { redis: 'localhost:6379' }],
    ['redis', { redis: 6379 }],
    ['commandTimeout', { commandTimeout: 0 }],
    ['leases', { limits: { leases: 0 } }],
    ['keyBites', { limits: { keyBites: 1 } }],
    ['limits', { limits: 5 }],
    ['lazyConnect', { lazyConnect: 'no' }],
    ['tll', { tll: '30s' }],
    ['minHold', { minHold: '2m', maxHold: '1m' }],
  ])('when option "%s" is wrong: %j', async (name, options) => {
    expect(() => RedisLockModule.forRoot(options)).toThrow(LockOptionsError);
    expect(() => RedisLockModule.forRoot(options)).toThrow(`"${name}"`);
    const late = start(RedisLockModule.forRootAsync({ useFactory: () => options }));
    await expect(late).rejects.toThrow(`"${name}"`);
  });

  it.each([[undefined], [null], ['redis://localhost']])(
    'when the factory returns no options: %p',
    async (options) => {
      const module = RedisLockModule.forRootAsync({ useFactory: () => options as never });
      await expect(start(module)).rejects.toThrow(LockOptionsError);
    },
  );
});

describe('several modules in one application', () => {
  const named = (name?: string): DynamicModule =>
    RedisLockModule.forRoot({
      redis: bench.redis.url,
      keyPrefix: `${name ?? 'main'}:`,
      ...(name && { name }),
    });

  @Injectable()
  class Bills {
    constructor(
      readonly locks: LockService,
      @InjectLockService('billing') readonly billing: LockService,
      @InjectLockService() readonly unnamed: LockService,
    ) {}

    @Locked('bill', { module: 'billing' })
    async pay(): Promise<string[]> {
      return [this.billing.current()!.key, String(this.locks.current()?.key)];
    }

    @Locked('bill')
    async plain(): Promise<string[]> {
      return [this.locks.current()!.key, String(this.billing.current()?.key)];
    }
  }

  it('have a name each, by which they are injected and decorated', async () => {
    const module = await Test.createTestingModule({
      imports: [named(), named('billing')],
      providers: [Bills],
    }).compile();
    const app = await bench.use(module.createNestApplication({ logger: false }));
    const bills = app.get(Bills);
    expect(bills.unnamed).toBe(bills.locks);
    expect(bills.billing).not.toBe(bills.locks);
    expect(await bills.pay()).toEqual(['bill', 'undefined']);
    expect(await bills.plain()).toEqual(['bill', 'undefined']);
    expect(await redisKeys(bills.billing, 'k')).toEqual(['billing:k']);
    expect(await redisKeys(bills.locks, 'k')).toEqual(['main:k']);
  });

  it('work by forRootAsync too', async () => {
    const app = await start(
      named(),
      RedisLockModule.forRootAsync({
        name: 'billing',
        useFactory: () => ({ redis: bench.redis.url, keyPrefix: 'async:' }),
      }),
    );
    const billing = app.get<LockService>('LockService:billing');
    expect(await redisKeys(billing, 'k')).toEqual(['async:k']);
  });

  it('are refused at start-up without a name, or with the same one', async () => {
    await expect(start(named(), named())).rejects.toThrow('imported twice without a name');
    await expect(start(named('a'), named('a'))).rejects.toThrow('imported twice named "a"');
    await expect(start(named('a'), named('b'), named('b'))).rejects.toThrow(LockOptionsError);
  });

  it('are one when one is imported in two places', async () => {
    const shared = named();
    @Module({ imports: [shared] })
    class Feature {}
    await start(shared, { module: Feature });
  });

  it('must have been imported under the name that a decorator says', async () => {
    const module = await Test.createTestingModule({
      imports: [named()],
      providers: [{ provide: 'other', useClass: Wrong }],
    }).compile();
    const starting = bench.use(module.createNestApplication({ logger: false }));
    await expect(starting).rejects.toThrow('@Locked on Wrong.work names the module "bilbing"');
  });

  it('must be named by a decorator when all have names', async () => {
    const module = await Test.createTestingModule({
      imports: [named('billing')],
      providers: [Unnamed],
    }).compile();
    const starting = bench.use(module.createNestApplication({ logger: false }));
    await expect(starting).rejects.toThrow('@Locked on Unnamed.work names no module');
  });
});

@Injectable()
class Wrong {
  @Locked('a', { module: 'bilbing' })
  async work(): Promise<void> {}
}

@Injectable()
class Unnamed {
  @Locked('a')
  async work(): Promise<void> {}
}

describe('the log at start-up', () => {
  class Parent {
    @Locked('a')
    async work(): Promise<void> {}
  }

  @Injectable()
  class Forgetful extends Parent {
    override async work(): Promise<void> {}
  }

  @Injectable()
  class Careful extends Parent {
    @Locked('a')
    override async work(): Promise<void> {}
  }

  it('says what was found and what is in force, and no secret', async () => {
    const lines: string[] = [];
    const log = jest
      .spyOn(Logger.prototype, 'log')
      .mockImplementation((line) => void lines.push(line));
    const warn = jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((line) => void lines.push(line));
    const redis = await protectedRedis('hunter2', ['--maxmemory-policy', 'allkeys-lru']);
    const app = await bench.app(
      { providers: [Forgetful, Careful] },
      { redis: `redis://default:hunter2@127.0.0.1:${redis.port}`, ttl: '5s' },
    );
    await app.close();
    await redis.stop();
    log.mockRestore();
    warn.mockRestore();
    const said = lines.filter((line) => typeof line === 'string').join('\n');
    expect(said).toMatch(
      new RegExp(
        `Redis \\d+\\.\\d+\\.\\d+ at 127.0.0.1:${redis.port}/0; keys "lock:…", ttl 5000 ms, wait 10000 ms, fencing on`,
      ),
    );
    expect(said).toContain('allkeys-lru');
    expect(said).toContain('Forgetful.work overrides a method under @Locked');
    expect(said).not.toMatch(/hunter2|Careful/);
  });
});

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
    ['a class', [class S {}], 'not a method'],
    ['a standard decorator’s place', [async () => {}, { kind: 'method', name: 'x' }], 'standard'],
  ])('on %s', (_, where, message) => {
    const decorate = (): unknown => locked({}, ...where);
    expect(decorate).toThrow(LockOptionsError);
    expect(decorate).toThrow(message);
  });
});

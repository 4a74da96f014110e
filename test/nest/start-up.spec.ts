import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type DynamicModule,
  type INestApplication,
  Injectable,
  Logger,
  Module,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  LockOptionsError,
  LockService,
  LockStoreError,
  RedisLockModule,
  type RedisLockOptions,
  type RedisLockOptionsFactory,
} from '../../lib/index.js';
import { ScriptBatch } from '../../lib/engine/redis/script-batch.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { SOON } from '../support/bounds.js';
import { NestBench } from '../support/nest-app.js';
import { Careful, EveryReplica, Forgetful, Leading, Unlocked, Within } from './careless-classes.js';
import { keysTaken } from './keys-taken.js';

let bench: NestBench;
beforeAll(async () => {
  bench = await NestBench.start();
});
afterAll(async () => {
  await bench.stop();
});

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
    expect(await keysTaken(bench.redis.url, app.get(LockService), 'k')).toEqual([expected]);
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

  it('logs in which dialect the module writes its locks', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const redis = await RedisProcess.start();
    const dialect = { name: 'redlock', prefix: 'stock:' } as const;
    const app = await start(RedisLockModule.forRoot({ redis: redis.url, dialect }));
    const ours = expect.stringContaining('; dialect "redlock", keys "stock:…", ttl');
    expect(log).toHaveBeenCalledWith(ours);
    await app.close();
    await redis.stop();
    log.mockRestore();
  });

  it('logs at the first call what a start logs, once', async () => {
    const lines: string[] = [];
    const spies = (['log', 'warn'] as const).map((level) =>
      jest.spyOn(Logger.prototype, level).mockImplementation((line) => void lines.push(line)),
    );
    const redis = await RedisProcess.start({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const app = await start(RedisLockModule.forRoot({ redis: redis.url, lazyConnect: true }));
    const ours = (): string[] => lines.filter((line) => /keys "lock:…"|maxmemory/.test(line));
    expect(ours()).toEqual([]);
    await Promise.all(['a', 'b'].map((key) => app.get(LockService).withLock(key, () => 1)));
    await app.get(LockService).inspect('a');
    expect(ours()).toEqual([
      expect.stringMatching(/^Redis [\d.]+ at .*; keys "lock:…"/),
      expect.stringMatching(/^maxmemory-policy is allkeys-lru/),
    ]);
    await app.close();
    await redis.stop();
    for (const spy of spies) spy.mockRestore();
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
    expect(error.message).toMatch(
      /\(ECONNREFUSED\)\. Option "lazyConnect" starts the application without Redis\.$/,
    );
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/hunter2|admin/);
    expect(performance.now() - since).toBeLessThan(5_000 + SOON);
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

describe('the log at start-up', () => {
  it('says once that commands are sent the slower way, where a tracer leaves ioredis no other', async () => {
    const commands = Redis.prototype as {
      sendCommand: (this: Redis, command: object, stream?: unknown) => unknown;
    };
    const { sendCommand } = commands;
    commands.sendCommand = function (command, stream) {
      if (!(command instanceof ScriptBatch)) return sendCommand.call(this, command, stream);
      throw new TypeError('This is no command that can be traced.');
    };
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const app = await bench.app({}, { redis: `redis://default@127.0.0.1:${bench.redis.port}` });
    expect(await app.get(LockService).withLock('traced', (lease) => lease.held)).toBe(true);
    await app.close();
    commands.sendCommand = sendCommand;
    const said = warn.mock.calls.map(String).filter((line) => line.includes('ioredis'));
    warn.mockRestore();
    expect(said).toEqual([
      expect.stringMatching(/half as much processor time again\. Install a version of ioredis/),
    ]);
    expect(said.join()).not.toMatch(/default|127\.0\.0\.1|\d{4}/);
  });

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
      {
        providers: [Forgetful, Careful, Leading, EveryReplica],
        controllers: [Unlocked, Within],
      },
      { redis: `redis://default:hunter2@127.0.0.1:${redis.port}`, ttl: '5s', wait: 300 },
    );
    await app.close();
    await redis.stop();
    log.mockRestore();
    warn.mockRestore();
    const said = lines.filter((line) => typeof line === 'string').join('\n');
    expect(said).toMatch(
      new RegExp(
        `Redis \\d+\\.\\d+\\.\\d+ at 127.0.0.1:${redis.port}/0; keys "lock:…", ttl 5000 ms, wait 300 ms, fencing on`,
      ),
    );
    expect(said).toContain('allkeys-lru');
    const without = ' without being so itself: it runs';
    for (const sentence of [
      `Forgetful.work overrides a method under @Locked${without} without the lock unless it calls super.`,
      `EveryReplica.nightly overrides a method under @LeaderOnly${without} on every replica unless it calls super.`,
      `Unlocked.get overrides a method under @LockedRequest${without} without the lock.`,
    ]) {
      expect(said).toContain(sentence);
    }
    expect(said.match(/ overrides /g)).toHaveLength(3);
    expect(said).toContain(
      "RedisLockModule has wait: 300, which is in ms. If you mean that, write '300ms'.",
    );
    expect(said).toMatch(/@Locked on \w+\.hasty has wait: 5, which is in ms/);
    expect(said).toContain(
      "@LeaderOnly on Leading.work has ttl: 900, which is in ms. If you mean that, write '900ms'.",
    );
    expect(said).not.toMatch(/hunter2|Careful\.work|atOnce|Leading\.calm/);
    for (const each of [/RedisLockModule has/g, /Leading\.work has/g, /\.hasty has/g]) {
      expect(said.match(each)).toHaveLength(1);
    }
  });
});

async function start(...imports: DynamicModule[]): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports }).compile();
  return bench.use(module.createNestApplication({ logger: false }));
}

async function protectedRedis(password: string, args: string[] = []): Promise<RedisProcess> {
  const redis = await RedisProcess.start({ args });
  const client = new Redis(redis.url);
  await client.config('SET', 'requirepass', password);
  client.disconnect();
  return redis;
}

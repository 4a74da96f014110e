import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type INestApplication, Module, Scope } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { Locked, LockService, LockShutdownError, RedisLockModule } from '../../lib/index.js';
import { logger } from '../../lib/nest/services/logger.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('RedisLockModule in a lazily loaded module alone', () => {
  /** An application without locks, and those that it loads later. */
  async function loaded(): Promise<{ app: INestApplication; locks: LockService }> {
    const Locks = RedisLockModule.forRoot({ redis: bench.redis.url, shutdownGrace: 0 });
    @Module({ imports: [Locks] })
    class Later {}
    const module = await Test.createTestingModule({}).compile();
    const app = await bench.use(module.createNestApplication({ logger: false }));
    const later = await app.get(LazyModuleLoader).load(() => Later);
    return { app, locks: later.get(LockService, { strict: false }) };
  }

  it('gives back what it holds when the application closes, tells its holders, and takes no more', async () => {
    const { app, locks } = await loaded();
    const lease = await locks.acquire('held');
    await app.close();
    expect((await rival.inspect('held')).state).toBe('free');
    expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
    await expect(locks.acquire('late')).rejects.toThrow(LockShutdownError);
  });

  it('closes its connections', async () => {
    const admin = new Redis(bench.redis.url);
    const clients = async (): Promise<number> =>
      String(await admin.client('LIST')).split('\n').length;
    const before = await clients();
    const { app, locks } = await loaded();
    await locks.withLock('used', async () => {});
    expect(await clients()).toBe(before + 2);
    await app.close();
    await until('its connections are closed', async () => (await clients()) === before);
    admin.disconnect();
  });

  it('rejects who waits', async () => {
    const { app, locks } = await loaded();
    await rival.withLock('awaited', async () => {
      const outcome = locks.acquire('awaited').catch((error: unknown) => error);
      await untilWaiting(rival, 'awaited');
      await app.close();
      expect(await outcome).toBeInstanceOf(LockShutdownError);
    });
  });
});

describe('a lazily loaded module of an application with locks', () => {
  class Work {
    @Locked('work:<id>')
    async work(id: string): Promise<string> {
      return `${id} ${(await rival.inspect(`work:${id}`)).state}`;
    }
  }

  it.each([
    ['useFactory', { provide: 'work', useFactory: () => new Work() }],
    ['useValue', { provide: 'work', useValue: new Work() }],
    ['async useFactory', { provide: 'work', useFactory: async () => new Work() }],
    [
      'useFactory of every request',
      { provide: 'work', useFactory: () => new Work(), scope: Scope.REQUEST },
    ],
    [
      'transient useFactory',
      { provide: 'work', useFactory: () => new Work(), scope: Scope.TRANSIENT },
    ],
  ])('has its objects locked: %s', async (_kind, provider) => {
    @Module({ providers: [provider] })
    class Later {}
    const app = await bench.app({});
    const later = await app.get(LazyModuleLoader).load(() => Later);
    const work = await later.resolve<Work>('work').catch(() => later.get<Work>('work'));
    expect(await work.work('1')).toBe('1 held');
  });

  it('has them locked by the module that they name', async () => {
    class Named {
      @Locked('named', { module: 'other' })
      async work(): Promise<string> {
        return (await rival.inspect('named')).state;
      }
    }
    @Module({ providers: [{ provide: 'named', useFactory: () => new Named() }] })
    class Later {}
    const other = RedisLockModule.forRoot({ name: 'other', redis: bench.redis.url });
    const app = await bench.app({ imports: [other] });
    const later = await app.get(LazyModuleLoader).load(() => Later);
    expect(await later.get<Named>('named').work()).toBe('held');
  });
});

describe('at a shutdown', () => {
  it('an application names what it took from its holders once', async () => {
    const warn = jest.spyOn(logger, 'warn').mockReturnValue(undefined);
    const app = await bench.app({}, { shutdownGrace: '100ms' });
    await app.get(LockService).acquire('taken');
    await app.close();
    const said = warn.mock.calls.filter(([text]) => String(text).includes('"taken"'));
    warn.mockRestore();
    expect(said).toHaveLength(1);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LeaseLostError, Locked, LockService, LockShutdownError } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { Gate } from '../support/gate.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { SOON } from '../support/bounds.js';
import { until } from '../support/until.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

/** How many clients a Redis has; our own `admin` not counted. */
async function connections(admin: Redis): Promise<number> {
  return (
    String(await admin.client('LIST'))
      .split('\n')
      .filter(Boolean).length - 1
  );
}

describe('when an application shuts down', () => {
  it('what it holds is given back, and its holders are told', async () => {
    const app = await bench.app({});
    const lease = await app.get(LockService).acquire('held');
    expect(lease.signal.aborted).toBe(false);
    await app.close();
    expect((await rival.inspect('held')).state).toBe('free');
    expect(lease.held).toBe(false);
    expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
  });

  it('its waiters are rejected, and leave the queue', async () => {
    const app = await bench.app({});
    const lease = await rival.acquire('awaited');
    const waiting = app.get(LockService).acquire('awaited');
    const outcome = waiting.catch((error: unknown) => error);
    await untilWaiting(rival, 'awaited');
    await app.close();
    expect(await outcome).toBeInstanceOf(LockShutdownError);
    expect((await rival.inspect('awaited')).waiting).toBe(0);
    await lease.release();
  });

  it('takes no lock any more', async () => {
    const app = await bench.app({});
    await app.close();
    await expect(app.get(LockService).acquire('late')).rejects.toThrow(LockShutdownError);
    await expect(app.get(LockService).tryAcquire('late')).rejects.toThrow(LockShutdownError);
  });

  it('closes its own connections, and may be closed again', async () => {
    const redis = await RedisProcess.start();
    const admin = new Redis(redis.url);
    const app = await bench.app({}, { redis: redis.url });
    expect(await connections(admin)).toBe(2);
    await app.close();
    await app.close();
    await until('no connection is left', async () => (await connections(admin)) === 0);
    admin.disconnect();
    await redis.stop();
  });

  it('a minimum hold still stands', async () => {
    const app = await bench.app({});
    const lease = await app.get(LockService).acquire('kept', { minHold: '1m' });
    await app.close();
    expect(lease.held).toBe(false);
    expect((await rival.inspect('kept')).state).toBe('kept');
  });

  it('ends in bounded time while Redis does not answer', async () => {
    const redis = await RedisProcess.start();
    const app = await bench.app({}, { redis: redis.url });
    await app.get(LockService).acquire('held');
    redis.signal('SIGSTOP');
    const since = performance.now();
    await app.close();
    expect(performance.now() - since).toBeLessThan(SOON);
    await redis.stop();
  });
});

describe('what an application leaves behind', () => {
  /** What would keep the process alive. */
  const handles = (): string[] =>
    process
      .getActiveResourcesInfo()
      .filter((kind) => /TCP|Timeout|Immediate/.test(kind))
      .sort();

  it.each(['SIGCONT', 'SIGSTOP', 'SIGKILL'] as const)(
    'is nothing, also when its Redis got a %s before',
    async (signal) => {
      const redis = await RedisProcess.start();
      const before = handles();
      const app = await bench.app({}, { redis: redis.url });
      await app.get(LockService).acquire('held');
      expect(handles().length).toBeGreaterThan(before.length);
      redis.signal(signal);
      await app.close();
      const closed = performance.now();
      await until('no handle is left', () => handles().length <= before.length);
      expect(performance.now() - closed).toBeLessThan(1_000);
      await redis.stop();
    },
  );
});

describe('a request under way when its application shuts down', () => {
  @Injectable()
  class Accounts {
    constructor(readonly locks: LockService) {}

    @Locked('account:<id>')
    async reenter(id: string): Promise<string> {
      return `${id} ${this.locks.current()!.held}`;
    }

    @Locked('other:<id>')
    async another(id: string): Promise<string> {
      return id;
    }
  }

  const inside = new Gate();
  const leave = new Gate();
  let refused: unknown;

  @Controller()
  class Requests {
    constructor(readonly accounts: Accounts) {}

    @Locked('account:<id>')
    @Get(':id')
    async get(@Param('id') id: string): Promise<string> {
      inside.open();
      await leave.opened;
      refused = await this.accounts.another(id).catch((error: unknown) => error);
      return this.accounts.reenter(id);
    }
  }

  it('keeps its lock until it is answered, may enter it again, and takes no other', async () => {
    const { app, url } = await bench.server(
      'Express',
      { controllers: [Requests], providers: [Accounts] },
      { ttl: '5s' },
      { forceCloseConnections: false },
    );
    const answer = fetch(`${url}/1`, { headers: { connection: 'close' } });
    await inside.opened;
    const closing = app.close();
    const waiting = app.get(LockService).acquire('account:1');
    await expect(waiting).rejects.toThrow(LockShutdownError);
    expect((await rival.inspect('account:1')).state).toBe('held');
    leave.open();
    const response = await answer;
    expect([response.status, await response.text()]).toEqual([200, '1 true']);
    expect(refused).toBeInstanceOf(LockShutdownError);
    await closing;
    expect((await rival.inspect('account:1')).state).toBe('free');
  });
});

describe('a start-up that failed', () => {
  it('leaves no connection once the application is closed', async () => {
    const redis = await RedisProcess.start();
    const admin = new Redis(redis.url);
    @Controller()
    class Routes {
      @Locked('a', { onBusy: 'skip' })
      @Get()
      async get(): Promise<void> {}
    }
    const module = await bench.builder({ controllers: [Routes] }, { redis: redis.url }).compile();
    const app = module.createNestApplication({ logger: false });
    await expect(app.init()).rejects.toThrow('onBusy');
    await app.close();
    await until('no connection is left', async () => (await connections(admin)) === 0);
    await expect(app.get(LockService).acquire('a')).rejects.toThrow(LockShutdownError);
    admin.disconnect();
    await redis.stop();
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Logger,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { text } from 'node:stream/consumers';
import { from, lastValueFrom, type Observable } from 'rxjs';
import {
  CurrentLease,
  type Lease,
  LeaseLostError,
  Locked,
  LockedRequest,
  LockService,
  LockShutdownError,
  RedisLockModule,
  type RedisLockOptions,
} from '../../lib/index.js';
import { SOON } from '../support/bounds.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { Gate } from '../support/gate.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Bodies } from './bodies-of-every-kind.js';

/** Shorter than what the bodies stay after the shutdown has begun: without renewal the locks would be free. */
const TTL = 3_000;

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('whatever runs under a lock when its application shuts down', () => {
  it('keeps its lock until it ends', async () => {
    const options = { ttl: TTL, shutdownGrace: '1m' } as const;
    const app = await bench.app({ providers: [Bodies] }, options);
    const [bodies, locks] = [app.get(Bodies), app.get(LockService)];
    const { leave, leases, body } = bodies;
    const inHand = await locks.acquire('leader:by-hand-in-hand');
    const text1 = await (await locks.acquire('restored')).handOver();
    const restored = await locks.restore(text1);
    const election = locks.election('by-hand', { ttl: TTL });
    const several = await locks.acquire(['several-a', 'several-b']);
    let leading: Promise<void> | undefined;
    await until('it leads', () => {
      leading = bodies.leader();
      return leases.has('leader');
    });
    const running: Record<string, Promise<unknown>> = {
      promise: bodies.promise(),
      observable: lastValueFrom(bodies.observable()),
      iterable: (async () => {
        for await (const name of bodies.iterable()) expect(name).toBe('iterable');
      })(),
      stream: bodies.stream().then((stream) => text(stream)),
      shared: bodies.shared(),
      siblings: bodies.siblings(),
      withLock: locks.withLock('withLock', (lease) => body('withLock', lease)),
      permit: locks
        .semaphore('permit', { permits: 1 })
        .withPermit((lease) => body('permit', lease)),
      restored: restored.run(() => body('restored', restored)),
      several: several.run(() => body('several', several)),
      inHand: body('inHand', inHand),
      elected: election.campaign().then(async (lease) => {
        await body('elected', lease);
        return election.resign();
      }),
    };
    for (const each of Object.values(running)) each.catch(() => {});
    await until('all run', () => leases.size === Object.keys(running).length + 1);

    let closed = false;
    const closing = app.close().then(() => (closed = true));
    await outliveTtl([...leases.values()]);
    expect(closed).toBe(false);
    for (const [name, lease] of leases) {
      expect([name, lease.held]).toEqual([name, true]);
      expect([name, lease.signal.aborted]).toEqual([name, name === 'elected']);
      for (const key of lease.keys) {
        const other = rival.semaphore(key, { permits: 1 });
        const taken = name === 'permit' ? other.tryAcquire() : rival.tryAcquire(key);
        expect([name, await taken]).toEqual([name, null]);
      }
    }
    leave.open();
    await Promise.all(Object.values(running));
    await leading;
    expect(bodies.led).toBe(true);
    expect(closed).toBe(false);
    await several.release();
    await restored.release();
    await inHand.release();
    await closing;
    for (const { keys } of leases.values()) {
      for (const key of keys)
        expect([key, (await rival.inspect(key)).state]).toEqual([key, 'free']);
    }
  });
});

describe.each(PLATFORMS)('requests under way when an application shuts down, on %s', (platform) => {
  it('keep their locks until they are answered, also when their connections are broken off', async () => {
    await Promise.all([answered(platform, false), answered(platform, true)]);
  });

  async function answered(name: Platform, forceCloseConnections: boolean): Promise<void> {
    const leave = new Gate();
    const leases: Lease[] = [];

    @Controller()
    class Requests {
      constructor(readonly locks: LockService) {}

      @LockedRequest(`request ${forceCloseConnections}`)
      @Get('request')
      async request(): Promise<string> {
        leases.push(this.locks.current()!);
        await leave.opened;
        return 'answered';
      }

      @Locked(`route ${forceCloseConnections}`)
      @Get('route')
      async route(@CurrentLease() lease?: Lease): Promise<string> {
        leases.push(lease!);
        await leave.opened;
        return 'answered';
      }
    }
    const { app, url } = await bench.server(
      name,
      { controllers: [Requests] },
      { ttl: TTL, shutdownGrace: '1m' },
      { forceCloseConnections },
    );
    const answers = ['request', 'route'].map(async (path) => {
      const response = await fetch(`${url}/${path}`, { headers: { connection: 'close' } });
      return response.text();
    });
    for (const answer of answers) answer.catch(() => {});
    await until('both run', () => leases.length === 2);
    const closing = app.close();
    await outliveTtl(leases);
    expect(leases.map(({ held }) => held)).toEqual([true, true]);
    for (const { key } of leases) expect(await rival.tryAcquire(key)).toBeNull();
    leave.open();
    const outcomes = await Promise.allSettled(answers);
    const said = outcomes.map((each) => (each.status === 'fulfilled' ? each.value : 'broken off'));
    const whole = forceCloseConnections ? said : ['answered', 'answered'];
    expect(said).toEqual(whole);
    await closing;
    for (const { key } of leases) expect((await rival.inspect(key)).state).toBe('free');
  }
});

describe.each(['schedule first', 'locks first'] as const)(
  'a job of @nestjs/schedule (%s)',
  (order) => {
    it('keeps its lock through a shutdown, and another replica comes in after it', async () => {
      const leave = new Gate();
      const leases: Lease[] = [];
      const key = `job (${order})`;
      let running = 0;
      let most = 0;

      @Injectable()
      class Jobs {
        @Interval(20)
        @Locked(key, { onBusy: 'skip', wait: 0 })
        async run(@CurrentLease() lease?: Lease): Promise<void> {
          most = Math.max(most, (running += 1));
          leases.push(lease!);
          await leave.opened;
          running -= 1;
        }
      }
      const replica = async (): Promise<INestApplication> => {
        const options = { redis: bench.redis.url, ttl: TTL, shutdownGrace: '1m' } as const;
        const modules = [ScheduleModule.forRoot(), RedisLockModule.forRoot(options)];
        const imports = order === 'schedule first' ? modules : modules.reverse();
        const module = await Test.createTestingModule({ imports, providers: [Jobs] }).compile();
        return bench.use(module.createNestApplication({ logger: false }));
      };
      const leaving = await replica();
      await until('the job runs', () => running === 1);
      const staying = await replica();
      const closing = leaving.close();
      await outliveTtl(leases);
      expect([running, most, leases[0]!.held]).toEqual([1, 1, true]);
      leave.open();
      await closing;
      await until('the other replica’s turn has come', () => leases.length > 1);
      await staying.close();
      expect(most).toBe(1);
    });
  },
);

describe('a shutdown whose grace is over', () => {
  /** What the library's logger warns of. */
  async function warned(task: () => Promise<void>): Promise<string[]> {
    const lines: string[] = [];
    const note = (line: unknown): void => void lines.push(String(line));
    const silent = (): void => {};
    Logger.overrideLogger({ log: silent, error: silent, debug: silent, warn: note });
    try {
      await task();
    } finally {
      Logger.overrideLogger(false);
    }
    return lines;
  }

  it('tells what still runs, gives its lock to who waits, and names it in the log', async () => {
    const app = await bench.app({}, { ttl: TTL, shutdownGrace: '500ms' });
    const locks = app.get(LockService);
    const lease = await locks.acquire('left');
    const done = await locks.acquire('done');
    const body = lease.run(
      () => new Promise((resolve) => lease.signal.addEventListener('abort', resolve)),
    );
    const waiting = rival.acquire('left', { wait: '30s' });
    await untilWaiting(rival, 'left');
    const lines = await warned(async () => {
      const closing = app.close();
      await done.release();
      await body;
      expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
      expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
      expect(lease.held).toBe(false);
      await (await waiting).release();
      await closing;
    });
    const [line, ...others] = lines.filter((each) => each.includes('shut'));
    expect(others).toEqual([]);
    expect(line).toContain('"left"');
    expect(line).not.toContain('"done"');
  });

  it('tells a stream that would keep Nest’s server from closing', async () => {
    const begun = new Gate();
    @Controller()
    class Endless {
      @Locked('endless', { returns: 'observable' })
      @Get()
      get(): Observable<string> {
        begun.open();
        return from(new Promise<string>(() => {}));
      }
    }
    const { app, url } = await bench.server(
      'Express',
      { controllers: [Endless] },
      { ttl: TTL, shutdownGrace: '500ms' },
      { forceCloseConnections: false },
    );
    const answer = fetch(url, { headers: { connection: 'close' } });
    await begun.opened;
    expect((await rival.inspect('endless')).state).toBe('held');
    await app.close();
    expect((await answer).status).toBe(500);
    expect((await rival.inspect('endless')).state).toBe('free');
  });

  it('names no lock where everything was given back', async () => {
    const app = await bench.app({}, { shutdownGrace: '30s' });
    const lease = await app.get(LockService).acquire('given back');
    const lines = await warned(async () => {
      const closing = app.close();
      await lease.release();
      await closing;
    });
    expect(lines.filter((each) => each.includes('shut'))).toEqual([]);
  });
});

describe('from the first shutdown hook on', () => {
  it('new calls are refused and who waits is refused, while other hooks still run', async () => {
    const destroying = new Gate();
    const leave = new Gate();
    @Injectable()
    class Slow implements OnModuleDestroy {
      async onModuleDestroy(): Promise<void> {
        destroying.open();
        await leave.opened;
      }
    }
    const app = await bench.app({ providers: [Slow] });
    const locks = app.get(LockService);
    const held = await rival.acquire('awaited');
    const waiting = locks.acquire('awaited', { wait: Infinity });
    const refused = waiting.catch((error: unknown) => error);
    await untilWaiting(rival, 'awaited');
    const closing = app.close();
    await destroying.opened;
    leave.open();
    expect(await refused).toBeInstanceOf(LockShutdownError);
    await expect(locks.acquire('new')).rejects.toThrow(LockShutdownError);
    await expect(locks.restore(await held.handOver())).rejects.toThrow(LockShutdownError);
    await closing;
  });
});

describe('a shutdown while Redis is cut off', () => {
  async function cutOff(
    options: RedisLockOptions,
    task: (locks: LockService, proxy: FaultProxy) => Promise<void>,
  ): Promise<number> {
    const proxy = await FaultProxy.before(bench.redis.port);
    const app = await bench.app({}, { ...options, redis: proxy.url });
    await task(app.get(LockService), proxy);
    proxy.blackHole();
    const since = performance.now();
    await app.close();
    const took = performance.now() - since;
    await proxy.close();
    return took;
  }

  it('ends within its grace and 3 s', async () => {
    let lease: Lease | undefined;
    const took = await cutOff(
      { shutdownGrace: '1s', commandTimeout: '20s', ttl: '1m' },
      async (locks) => {
        lease = await locks.acquire('cut off');
      },
    );
    expect(took).toBeGreaterThan(990);
    expect(took).toBeLessThan(1_000 + SOON);
    expect(lease!.signal.reason).toMatchObject({ reason: 'shutdown' });
    await rival.forceRelease('cut off');
    await untilFree(rival, 'cut off');
  });

  it('ends soon where nothing is held', async () => {
    const took = await cutOff({ shutdownGrace: '1m', commandTimeout: '20s' }, async (locks) => {
      await (await locks.acquire('given back')).release();
    });
    expect(took).toBeLessThan(SOON); // a second by a clock that stands still: test/contracts/shutdown
  });

  it('refuses at once a call that waits for its first connection', async () => {
    const proxy = await FaultProxy.before(bench.redis.port);
    proxy.blackHole();
    const options = { redis: proxy.url, lazyConnect: true, commandTimeout: '1m' } as const;
    const app = await bench.app({}, { ...options, shutdownGrace: '1m' });
    const waiting = app.get(LockService).acquire('never');
    const refused = waiting.catch((error: unknown) => error);
    await until('it connects', () => proxy.links.size > 0);
    await app.close();
    expect(await refused).toBeInstanceOf(LockShutdownError);
    await proxy.close();
  });
});

/** When the next renewal but one ttl has come: whoever was not renewed has lost its lock. */
async function outliveTtl(leases: readonly Lease[]): Promise<void> {
  const before = leases.map(({ expiresAt }) => expiresAt);
  await until('all have been renewed for longer than a ttl', () =>
    leases.every((lease, at) => lease.expiresAt > before[at]! + TTL),
  );
}

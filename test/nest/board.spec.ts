import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  Logger,
  Module,
  Scope,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, RouterModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import helmet from 'helmet';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from 'node:http2';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { map, tap, timeout } from 'rxjs';
import { LockBoard } from '../../lib/watch/board/lock-board.js';
import { LockBoardModule, type LockBoardOptions } from '../../lib/watch/board/index.js';
import {
  type Lease,
  LockOptionsError,
  LockService,
  lockServiceToken,
  LockStoreError,
  RedisLockModule,
} from '../../lib/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { ask, rowOf, Secret, useBoards } from './apps-with-boards.js';

// It has no types.
const compression = createRequire(import.meta.url)('compression') as (options: object) => any;

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

const { closing, start, watch } = useBoards(bench);
afterEach(() => {
  jest.restoreAllMocks();
});

const holdsNow = expect.stringMatching(
  new RegExp(`^Another caller holds it now: [\\w-]+ \\(pid ${process.pid}\\)\\.$`),
);

describe('a board whose options are wrong', () => {
  it.each([
    [
      'nothing',
      undefined,
      /would show everybody .* give it "guards: \[YourAdminGuard\]", or "open: true"/,
    ],
    ['open: false', { open: false }, /would show everybody/],
    ['no guard in the list', { guards: [] }, /would show everybody/],
    ['guards and open', { guards: [Secret], open: true }, /"guards" or "open: true", not both/],
    ['what is no guard', { guards: ['admin'] }, /a list of guards/],
    ['one guard without a list', { guards: Secret }, /a list of guards/],
    ['an option that is unknown', { open: true, released: true }, /has no option "released"/],
    ['a path that is no text', { open: true, path: 5 }, /a string as "path"/],
    ['an empty pattern', { open: true, pattern: '' }, /a "pattern" that is not empty/],
    ['a word as release', { open: true, release: 'yes' }, /true or false as "release"/],
    ['an interval that is short', { open: true, interval: 10 }, /from 500 ms to 10000 ms/],
    ['a limit that is large', { open: true, limit: 100_000 }, /from 1 to 5000/],
  ])('is refused: %s', (_, options, text) => {
    const forRoot = (): unknown => LockBoardModule.forRoot(options as LockBoardOptions);
    expect(forRoot).toThrow(LockOptionsError);
    expect(forRoot).toThrow(text);
  });

  it.each([
    ['without forRoot', [LockBoardModule], /without options: write LockBoardModule\.forRoot/],
    [
      'without locks',
      [LockBoardModule.forRoot({ open: true })],
      /import RedisLockModule\.forRoot\(\)/,
    ],
    [
      'of a module that is not there',
      [
        RedisLockModule.forRoot({ lazyConnect: true }),
        LockBoardModule.forRoot({ open: true, module: 'billing' }),
      ],
      /RedisLockModule\.forRoot\(\{ name: 'billing' \}\)/,
    ],
    [
      'where every string of Redis would look like a held lock',
      [
        RedisLockModule.forRoot({ lazyConnect: true, dialect: 'redlock' }),
        LockBoardModule.forRoot({ open: true, pattern: '*' }),
      ],
      /^Without a prefix, dialect "redlock" takes every string of Redis for a lock: give it a "prefix", or a pattern/,
    ],
  ])('does not start %s', async (_, imports, text) => {
    await expect(Test.createTestingModule({ imports }).compile()).rejects.toThrow(text);
  });
});

it.each([
  ['open', { open: true }, [/^The lock board at "locks" is open: .* the keys of all locks\.$/]],
  [
    'open to releases',
    { open: true, release: true },
    [/ and can take locks from their holders\.$/],
  ],
  ['guarded', { guards: [Secret] }, []],
])('a board that is %s says so at the start', async (_, options, lines) => {
  const warn = jest.spyOn(Logger.prototype, 'warn');
  await start('Express', { options });
  const said = warn.mock.calls.map(([line]) => String(line));
  expect(said.filter((line) => line.includes('lock board'))).toEqual(
    lines.map((line) => expect.stringMatching(line)),
  );
});

it('two boards of one application show the locks of two modules', async () => {
  const name = 'billing';
  const imports = [
    RedisLockModule.forRoot({ redis: bench.redis.url, name, keyPrefix: 'billing:' }),
    LockBoardModule.forRoot({ open: true, module: name, path: 'billing/locks' }),
  ];
  const { app, url, board, locks } = await start('Express', { imports });
  const billing: LockService = app.get(lockServiceToken(name));
  const leases = [await locks.acquire('one'), await billing.acquire('other')];
  const keysAt = async (place: string): Promise<string[]> =>
    (await (await watch(place)).next('locks')).rows.map(({ key }: any) => key);
  expect(await keysAt(board)).toEqual(['one']);
  expect(await keysAt(`${url}/billing/locks`)).toEqual(['other']);
  for (const lease of leases) await lease.release();
});

it('sends events through compression, and has its own policy beside that of helmet', async () => {
  const { board } = await start('Express', {
    before: (app) => app.use(compression({ threshold: 0 }), helmet()),
  });
  const events = await watch(board, { 'Accept-Encoding': 'gzip' });
  for (let nth = 0; nth < 2; nth += 1) expect(await events.next('locks')).toBeDefined();
  const page = await fetch(board, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(page.headers.get('content-encoding')).toBeNull();
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'sha256-/,
  );
});

describe.each(PLATFORMS)('a board on %s', (platform) => {
  it('is one page that may load nothing, be framed by nobody and be kept nowhere', async () => {
    const { board } = await start(platform);
    const page = await fetch(board);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toContain('no-store');
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).not.toMatch(/\b(src|href|action)="(?!data:,")|\son\w+=|https?:/);
  });

  it('shows who holds a lock, for how long, what is left, and who waits', async () => {
    const { board } = await start(platform);
    const lease = await rival.acquire('account:1', { label: 'Accounts.pay' });
    const waiting = rival.acquire('account:1', { wait: '5m' });
    const readers = [
      await rival.acquire('prices', { mode: 'shared' }),
      await rival.acquire('prices', { mode: 'shared' }),
    ];
    const events = await watch(board);
    expect(await events.next('settings')).toEqual({
      release: false,
      pattern: '*',
      limit: 500,
      interval: 500,
    });
    const { rows, cut } = await events.list((all) => rowOf(all, 'account:1')?.oldest > 0);
    expect(cut).toBe(false);
    expect(rowOf(rows, 'account:1')).toEqual({
      key: 'account:1',
      mode: 'exclusive',
      held: true,
      holders: [{ host: expect.any(String), pid: process.pid, label: 'Accounts.pay', count: 1 }],
      others: 0,
      heldFor: expect.any(Number),
      remaining: expect.any(Number),
      waiting: 1,
      awaiting: 0,
      oldest: expect.any(Number),
      grant: expect.any(String),
    });
    expect(rowOf(rows, 'prices')).toMatchObject({
      mode: 'shared',
      holders: [{ pid: process.pid, count: 2 }],
    });
    await lease.release();
    await (await waiting).release();
    for (const reader of readers) await reader.release();
    expect(await events.list((all) => all.length === 0)).toEqual({ rows: [], cut: false });
  });

  it('says when there are more than it shows', async () => {
    const { board } = await start(platform, { options: { open: true, limit: 2, pattern: 'a*' } });
    const leases = await Promise.all(['a1', 'a2', 'b'].map((key) => rival.acquire(key)));
    const events = await watch(board);
    expect((await events.next('locks')).rows.map(({ key }: any) => key)).toEqual(['a1', 'a2']);
    leases.push(await rival.acquire('a3'));
    let list = await events.next('locks');
    while (!list.cut) list = await events.next('locks');
    expect(list.rows).toHaveLength(2);
    for (const lease of leases) await lease.release();
  });

  it('says so also where one that was found is free by the time it is looked at', async () => {
    const { board, locks } = await start(platform, {
      options: { open: true, limit: 2, pattern: 'a*' },
    });
    const leases = await Promise.all(['a1', 'a2', 'a3'].map((key) => rival.acquire(key)));
    const { client } = LockService.internals(locks);
    const names = client.names.bind(client);
    jest.spyOn(client, 'names').mockImplementationOnce(async (search) => {
      const found = await names(search);
      await leases.pop()!.release();
      return found;
    });
    const { rows, cut } = await (await watch(board)).next('locks');
    expect([rows.map(({ key }: any) => key), cut]).toEqual([['a1', 'a2'], true]);
    for (const lease of leases) await lease.release();
  });

  it('has its guards before everything', async () => {
    const { board } = await start(platform, { options: { guards: [Secret], release: true } });
    const lease = await rival.acquire('guarded');
    expect((await fetch(board)).status).toBe(403);
    expect((await fetch(`${board}/events`)).status).toBe(403);
    expect((await ask(board, { key: 'guarded' }))[0]).toBe(403);
    expect((await rival.inspect('guarded')).state).toBe('held');
    const headers = { word: 'please' };
    expect((await fetch(board, { headers })).status).toBe(200);
    const events = await watch(board, headers);
    expect((await events.next('settings')).release).toBe(true);
    await lease.release();
  });

  it('has guards that inject what other modules export', async () => {
    @Module({ providers: [Secret], exports: [Secret] })
    class Users {}
    @Injectable()
    class Admins implements CanActivate {
      constructor(private readonly secret: Secret) {}
      canActivate(context: ExecutionContext): boolean {
        return this.secret.canActivate(context);
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Secret], Admins);
    const { board } = await start(platform, { options: { guards: [Admins], imports: [Users] } });
    expect((await fetch(board)).status).toBe(403);
    expect((await fetch(board, { headers: { word: 'please' } })).status).toBe(200);
  });

  it('has guards that are made anew for each request', async () => {
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Session {
      readonly nth = (made += 1);
    }
    @Module({ providers: [Session], exports: [Session] })
    class Sessions {}
    @Injectable()
    class EverySecond implements CanActivate {
      constructor(private readonly session: Session) {}
      canActivate(): boolean {
        return this.session.nth % 2 === 0;
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Session], EverySecond);
    const options = { guards: [EverySecond], imports: [Sessions], release: true };
    const { app, board } = await start(platform, { options });
    for (const route of [board, `${board}/events`]) {
      expect((await fetch(route)).status).toBe(403);
      const allowed = await fetch(route);
      expect(allowed.status).toBe(200);
      if (route === board) await allowed.text();
      else closing.push(() => allowed.body!.cancel());
    }
    expect((await ask(board, { key: 'a' }))[0]).toBe(403);
    expect(await ask(board, { key: 'a' })).toEqual([200, { freed: false }]);
    expect(app.get(LockBoard).viewers).toBe(1); // one board, however many requests
  });

  it('is behind the guards of the whole application where it is open', async () => {
    const providers = [{ provide: APP_GUARD, useClass: Secret }];
    const { board } = await start(platform, { providers });
    for (const route of [board, `${board}/events`]) {
      expect((await fetch(route)).status).toBe(403);
    }
    expect((await fetch(board, { headers: { word: 'please' } })).status).toBe(200);
  });

  it('is not ended by interceptors that set a header late, wrap answers or end waits', async () => {
    const late = {
      intercept: (context: ExecutionContext, next: any) =>
        next.handle().pipe(
          timeout(400),
          tap(() => context.switchToHttp().getResponse().header('X-Late', 'yes')),
          map((data) => ({ data })),
        ),
    };
    const error = jest.spyOn(Logger.prototype, 'error');
    const { board } = await start(platform, {
      options: { open: true, release: true, interval: 500 },
      providers: [{ provide: APP_INTERCEPTOR, useValue: late }],
    });
    expect(await (await fetch(board)).text()).toMatch(/^<!doctype html>.*<\/html>\s*$/s);
    const events = await watch(board);
    for (let nth = 0; nth < 3; nth += 1) expect(await events.next('locks')).toBeDefined();
    expect(await ask(board, { key: 'free' })).toEqual([200, { freed: false }]);
    expect(error.mock.calls).toEqual([]);
  });

  it('scans Redis once a turn, however many look', async () => {
    const { board } = await start(platform);
    const redis = new Redis(bench.redis.url);
    closing.push(() => redis.quit());
    const scans = async (): Promise<number> =>
      Number(/cmdstat_scan:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    const pages = await Promise.all(Array.from({ length: 50 }, () => watch(board)));
    await Promise.all(pages.map((page) => page.next('locks')));
    const [began, before] = [performance.now(), await scans()];
    for (let turn = 0; turn < 4; turn += 1) {
      await Promise.all(pages.map((page) => page.next('locks')));
    }
    const turns = (performance.now() - began) / 500;
    expect((await scans()) - before).toBeLessThanOrEqual(turns + 1); // a small Redis is scanned in one call
  });

  it.each([
    VersioningType.URI,
    VersioningType.HEADER,
    VersioningType.MEDIA_TYPE,
    VersioningType.CUSTOM,
  ] as const)(
    'stands below a global prefix and has no version, with versioning of type %i',
    async (type) => {
      const { url } = await start(platform, {
        options: { open: true, path: '/admin/locks' },
        before: (app) =>
          app.setGlobalPrefix('api').enableVersioning({
            type,
            header: 'version',
            key: 'v=',
            extractor: (request: any) => request.headers.version ?? '2',
            defaultVersion: '1',
          }),
      });
      expect((await fetch(`${url}/api/admin/locks`)).status).toBe(200);
      const events = await watch(`${url}/api/admin/locks`);
      expect(await events.next('locks')).toBeDefined();
      const headers = { version: '1', accept: 'application/json;v=1' };
      const versioned = type === VersioningType.URI ? '/api/v1' : '/api';
      expect((await fetch(`${url}${versioned}/accounts`, { headers })).status).toBe(200);
    },
  );

  it('stands where RouterModule puts it', async () => {
    const imports = [RouterModule.register([{ path: 'inner', module: LockBoardModule }])];
    const { url } = await start(platform, { imports });
    expect((await fetch(`${url}/inner/locks`)).status).toBe(200);
  });

  it('shows a lease that was handed over as one that waits to be restored', async () => {
    const { board } = await start(platform);
    const text = await (await rival.acquire('order:1')).handOver();
    const mode = async (): Promise<string> =>
      rowOf((await (await watch(board)).next('locks')).rows, 'order:1').mode;
    expect(await mode()).toBe('handed over');
    const lease = await rival.restore(text);
    await lease.release();
  });

  it('releases nothing unless that is wanted', async () => {
    const { board } = await start(platform);
    const lease = await rival.acquire('kept');
    const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'kept');
    expect((await ask(board, { key: 'kept', grant }))[0]).toBe(404);
    expect((await rival.inspect('kept')).state).toBe('held');
    await lease.release();
  });

  describe('with release', () => {
    const options = { open: true, release: true, pattern: 'job:*', interval: 500 } as const;

    /** What came of each release, as the log says it once it is known. */
    const logged = (warn: { mock: { calls: unknown[][] } }, key: string): string[] => {
      const asked = `The lock board was asked to take ${JSON.stringify(key)} from `;
      const lines = warn.mock.calls.map(([line]) => String(line));
      return lines
        .filter((line) => line.startsWith(asked))
        .map((line) => line.slice(asked.length))
        .map((line) => line.replace(/^.+ \(pid \d+\), by POST \/locks\/release: /, ''));
    };

    it('takes the lock from the holder that was shown, and logs it', async () => {
      const warn = jest.spyOn(Logger.prototype, 'warn');
      const { board } = await start(platform, { options });
      const lease = await rival.acquire('job:"1"');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:"1"');
      expect(await ask(`${board}`, { key: 'job:"1"', grant })).toEqual([200, { freed: true }]);
      await until('it is told', () => lease.signal.aborted);
      expect(await ask(board, { key: 'job:"1"', grant })).toEqual([200, { freed: false }]);
      expect(logged(warn, 'job:"1"')).toEqual(['it is taken.']);
    });

    it('leaves a holder that was not shown', async () => {
      const { board } = await start(platform, { options });
      const first = await rival.acquire('job:2');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:2');
      await first.release();
      const second = await rival.acquire('job:2');
      const changed = [409, { message: holdsNow }];
      expect(await ask(board, { key: 'job:2', grant })).toEqual(changed);
      expect(await ask(board, { key: 'job:2' })).toEqual(changed);
      expect(second.signal.aborted).toBe(false);
      await second.release();
    });

    it('leaves a caller that took it after the last look, and says who holds it', async () => {
      const warn = jest.spyOn(Logger.prototype, 'warn');
      const { board, locks } = await start(platform, { options });
      const first = await rival.acquire('job:8');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:8');
      const { client } = LockService.internals(locks);
      const force = client.force.bind(client);
      let second: Lease | undefined;
      jest.spyOn(client, 'force').mockImplementation(async (...asked) => {
        await first.release();
        second = await rival.acquire('job:8');
        return force(...asked);
      });
      expect(await ask(board, { key: 'job:8', grant })).toEqual([409, { message: holdsNow }]);
      expect(logged(warn, 'job:8')).toEqual(['another caller had it by then.']);
      second!.assertHeld();
      expect(await rival.inspect('job:8')).toMatchObject({ fencingToken: second!.fencingToken });
      await second!.release();
    });

    it.each<[what: string, force: () => Promise<false>, status: number, came: string]>([
      ['it was free by then', async () => false, 200, 'it was free by then.'],
      [
        'Redis did not answer',
        () => Promise.reject(new LockStoreError('No answer.')),
        503,
        'it may be taken: No answer.',
      ],
    ])('logs of a release in vain that %s', async (_, force, status, came) => {
      const warn = jest.spyOn(Logger.prototype, 'warn');
      const { board, locks } = await start(platform, { options });
      const lease = await rival.acquire('job:10');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:10');
      jest.spyOn(LockService.internals(locks).client, 'force').mockImplementation(force);
      expect((await ask(board, { key: 'job:10', grant }))[0]).toBe(status);
      expect(logged(warn, 'job:10')).toEqual([came]);
      await lease.release();
    });

    it('leaves the minimum hold of a lock that was given back', async () => {
      const { board } = await start(platform, { options });
      const lease = await rival.acquire('job:9', { minHold: '1h', ttl: '1h' });
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:9');
      await lease.release();
      const message = 'The caller that was shown gave it back.';
      expect(await ask(board, { key: 'job:9', grant })).toEqual([409, { message }]);
      await rival.forceRelease('job:9');
    });

    it.each<[what: string, acquire: () => Promise<Lease>]>([
      ['without tokens', () => rival.acquire('job:5', { fencing: false })],
      ['as a reader', () => rival.acquire('job:5', { mode: 'shared' })],
      ['by a permit', () => rival.semaphore('job:5', { permits: 2 }).acquire()],
    ])('leaves a holder %s that was not shown', async (_, acquire) => {
      const { board } = await start(platform, { options });
      const first = await acquire();
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:5');
      await first.release();
      const second = await acquire();
      const changed = [409, { message: holdsNow }];
      expect(await ask(board, { key: 'job:5', grant })).toEqual(changed);
      expect(await ask(board, { key: 'job:5' })).toEqual(changed);
      expect((await rival.inspect('job:5')).state).toBe('held');
      await second.release();
    });

    it('leaves what is no lock', async () => {
      const redis = new Redis(bench.redis.url);
      closing.push(() => redis.quit());
      await redis.set('lock:job:6', 'something');
      const { board } = await start(platform, { options });
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:6');
      for (const body of [{ key: 'job:6' }, { key: 'job:6', grant }]) {
        expect(await ask(board, body)).toEqual([409, { message: 'What stands there is no lock.' }]);
      }
      expect(await redis.getdel('lock:job:6')).toBe('something');
    });

    it('leaves a lock of another service that it took again', async () => {
      const redis = new Redis(bench.redis.url);
      closing.push(() => redis.quit());
      const dialect = { name: 'timestamp', unit: 'ms' } as const;
      const { board } = await start(platform, { options, module: { dialect } });
      const ends = Date.now() + 3_600_000;
      await redis.set('job:7', String(ends));
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:7');
      await redis.set('job:7', String(ends + 1));
      const changed = [409, { message: 'Another caller holds it now.' }];
      expect(await ask(board, { key: 'job:7', grant })).toEqual(changed);
      expect(await redis.getdel('job:7')).toBe(String(ends + 1));
    });

    it('releases no lock that it does not show, and answers nonsense with what is right', async () => {
      const { board } = await start(platform, { options });
      const lease = await rival.acquire('account:1');
      expect(await ask(board, { key: 'account:1' })).toEqual([
        404,
        { message: 'This page does not show that lock.' },
      ]);
      expect((await ask(board, {}))[0]).toBe(400);
      expect((await ask(board, { key: ['job:1'] }))[0]).toBe(400);
      expect((await ask(board, 'null'))[0]).toBe(400);
      expect((await ask(board, '{'))[0]).toBe(400);
      expect((await ask(board, { key: 'job:{' }))[0]).toBe(400);
      expect((await ask(board, { key: `job:${'x'.repeat(600)}` }))[0]).toBe(400);
      expect((await ask(board, { key: `job:${'x'.repeat(70_000)}` }))[0]).toBeGreaterThan(399);
      expect((await rival.inspect('account:1')).state).toBe('held');
      await lease.release();
    });

    const own = (board: string): string => new URL(board).origin;
    it.each<[string, (board: string) => Record<string, string>, number]>([
      ['another site', () => ({ 'Sec-Fetch-Site': 'cross-site' }), 403],
      ['a neighbour', () => ({ 'Sec-Fetch-Site': 'same-site' }), 403],
      [
        'another site that forged Host',
        (board) => ({ 'Sec-Fetch-Site': 'cross-site', Origin: own(board) }),
        403,
      ],
      ['another site, over HTTP', () => ({ Origin: 'http://evil.example' }), 403],
      ['a sandboxed frame, over HTTP', () => ({ Origin: 'null' }), 403],
      ['another port', () => ({ Origin: 'http://127.0.0.1:1' }), 403],
      ['a form', () => ({ 'Content-Type': 'text/plain' }), 415],
      ['a form with fields', () => ({ 'Content-Type': 'application/x-www-form-urlencoded' }), 415],
      ['the page', () => ({ 'Sec-Fetch-Site': 'same-origin' }), 200],
      [
        'the page behind a proxy with TLS',
        () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: 'https://admin.example' }),
        200,
      ],
      ['the page, over HTTP', (board) => ({ Origin: own(board) }), 200],
    ])('answers %s with the right status, however open CORS is', async (_, headersFor, status) => {
      const before = (app: INestApplication): void =>
        app.enableCors({ origin: true, credentials: true });
      const { board } = await start(platform, { options, before });
      const lease = await rival.acquire('job:3');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:3');
      const headers = headersFor(board);
      // Fastify has no parser for forms but that of Nest, and refuses others itself.
      expect((await ask(board, { key: 'job:3', grant }, headers))[0]).toBe(status);
      expect((await rival.inspect('job:3')).state).toBe(status === 200 ? 'free' : 'held');
      const abort = new AbortController();
      const events = await fetch(`${board}/events`, { headers, signal: abort.signal });
      expect(events.status).toBe(status === 403 ? 403 : 200);
      abort.abort();
      await lease.release();
    });

    it('tells no client why it failed', async () => {
      const { board, locks } = await start(platform, { options });
      const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
      jest.spyOn(locks, 'inspect').mockRejectedValue(new Error('redis://user:password@host'));
      const lease = await rival.acquire('job:5');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:5');
      const failed = [500, { message: 'The application failed; its log says how.' }];
      expect(await ask(board, { key: 'job:5', grant })).toEqual(failed);
      expect(String(log.mock.calls)).toContain('password@host');
      await lease.release();
    });

    it('needs no body parser of the application', async () => {
      const settings = { bodyParser: false };
      const { board } = await start(platform, { options, settings });
      const lease = await rival.acquire('job:4');
      const { grant } = rowOf((await (await watch(board)).next('locks')).rows, 'job:4');
      expect(await ask(board, { key: 'job:4', grant })).toEqual([200, { freed: true }]);
      await lease.release();
    });
  });

  it('delays no lock while a guard hangs, and has no page that left meanwhile', async () => {
    let decide = (_: boolean): void => {};
    const decision = new Promise<boolean>((resolve) => (decide = resolve));
    const asked = jest.fn(() => decision);
    const { app, board, locks } = await start(platform, {
      options: { guards: [{ canActivate: asked }] },
    });
    const list = jest.spyOn(locks, 'list');
    const { hostname, port } = new URL(board);
    const leaving = connect(Number(port), hostname);
    leaving.write('GET /locks/events HTTP/1.1\r\nHost: x\r\n\r\n');
    const stays = fetch(board);
    await until('both were asked', () => asked.mock.calls.length === 2);
    await locks.withLock('account:7', () => {});
    const connections = (): Promise<number> =>
      new Promise((resolve) =>
        app.getHttpServer().getConnections((_: unknown, count: number) => resolve(count)),
      );
    const before = await connections();
    leaving.destroy();
    await until('the server knows', async () => (await connections()) < before);
    decide(true);
    expect((await stays).status).toBe(200);
    expect([app.get(LockBoard).viewers, list.mock.calls.length]).toEqual([0, 0]);
  });

  it('has no page that asked behind another on one connection, once that is gone', async () => {
    const { app, board } = await start(platform);
    const { hostname, port } = new URL(board);
    const both = connect(Number(port), hostname);
    both.write('GET /locks/events HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
    const viewers = (): number => app.get(LockBoard).viewers;
    await until('one looks', () => viewers() > 0);
    const second = await watch(board); // which was asked for after both
    await second.next('locks');
    both.destroy();
    second.close();
    await until('nobody looks', () => viewers() === 0);
  });

  it('shows a store that fails as what it is, and goes on', async () => {
    const { board, locks } = await start(platform);
    const events = await watch(board);
    await events.next('locks');
    const list = jest
      .spyOn(locks, 'list')
      .mockRejectedValue(new LockStoreError('Redis sleeps.', {}));
    expect(await events.next('trouble')).toEqual({ message: 'Redis sleeps.' });
    const log = jest.spyOn(Logger.prototype, 'error');
    list.mockRejectedValue(new Error('redis://user:password@host'));
    let { message } = await events.next('trouble');
    while (message === 'Redis sleeps.') ({ message } = await events.next('trouble'));
    expect(message).toBe('The application failed; its log says how.');
    await events.next('trouble');
    expect(log).toHaveBeenCalledTimes(1);
    list.mockRestore();
    expect(await events.next('locks')).toBeDefined();
  });

  it('ends at once with the application, which waits for no page', async () => {
    const { app, board } = await start(platform, { forceCloseConnections: false });
    const { hostname, port } = new URL(board);
    const page = connect(Number(port), hostname);
    let text = '';
    page.setEncoding('utf8').on('data', (more) => (text += more));
    page.write('GET /locks/events HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('it looks', () => text.includes('event: locks'));
    const ended = once(page, 'end');
    await app.close();
    await ended;
    expect(text).toMatch(/\r\n0\r\n\r\n$/); // which tells the page that nothing is missing
  });
});

describe('a board over HTTP/2', () => {
  let decide: (_: boolean) => void;
  const asked = jest.fn<() => Promise<boolean> | boolean>();

  beforeEach(() => void asked.mockReset().mockReturnValue(true));

  async function begin(): Promise<{ app: INestApplication; session: ClientHttp2Session }> {
    const guards = [{ canActivate: asked }];
    const { app, url } = await start('Fastify', {
      options: { guards, release: true, interval: 500 },
      http2: true,
    });
    const session = connectHttp2(url);
    closing.push(() => session.destroy());
    return { app, session };
  }

  /** What is answered, as far as `isEnough`, or to its end. */
  async function textOf(
    stream: ClientHttp2Stream,
    isEnough = (_: string): boolean => false,
  ): Promise<string> {
    let text = '';
    for await (const more of stream.setEncoding('utf8')) if (isEnough((text += more))) break;
    return text;
  }

  it('is a page with its events and its release', async () => {
    const { app, session } = await begin();
    const lease = await rival.acquire('job:2');
    expect(await textOf(session.request({ ':path': '/locks' }))).toContain('<!doctype html>');
    const events = session.request({ ':path': '/locks/events' });
    const list = await textOf(events, (text) => /event: locks\ndata: .*\n\n/.test(text));
    const { rows } = JSON.parse(/^event: locks\ndata: (.*)$/m.exec(list)![1]!);
    await until('nobody looks', () => app.get(LockBoard).viewers === 0);
    const release = session.request({
      ':path': '/locks/release',
      ':method': 'POST',
      'content-type': 'application/json',
    });
    release.end(JSON.stringify({ key: 'job:2', grant: rowOf(rows, 'job:2').grant }));
    expect(JSON.parse(await textOf(release))).toEqual({ freed: true });
    await until('the holder is told', () => lease.signal.aborted);
  });

  it('has no page that left while a guard decided, and releases nothing for it', async () => {
    const { app, session } = await begin();
    const decision = new Promise<boolean>((resolve) => (decide = resolve));
    asked.mockReturnValue(decision);
    const locks = app.get(LockService);
    const looks = [jest.spyOn(locks, 'list'), jest.spyOn(locks, 'inspect')];
    const release = session.request({
      ':path': '/locks/release',
      ':method': 'POST',
      'content-type': 'application/json',
    });
    release.end(JSON.stringify({ key: 'job:2' }));
    const leaving = [session.request({ ':path': '/locks/events' }), release];
    await until('both were asked', () => asked.mock.calls.length === 2);
    for (const stream of leaving) stream.close(constants.NGHTTP2_CANCEL);
    await new Promise<void>((resolve) => session.ping(() => resolve())); // which comes after the farewells
    decide(true);
    expect(await textOf(session.request({ ':path': '/locks' }))).toContain('<!doctype html>');
    expect(app.get(LockBoard).viewers).toBe(0);
    for (const look of looks) expect(look).not.toHaveBeenCalled();
  });
});

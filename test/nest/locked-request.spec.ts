import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { catchError, merge, type Observable, of, retry, toArray } from 'rxjs';
import { LockedRequest, LockInterceptor, LockOptionsError, LockService } from '../../lib/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import {
  balance,
  Base,
  Derived,
  held,
  KEYS,
  latest,
  Roots,
  Tenants,
} from './requests-of-tenants.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe.each(PLATFORMS)('@LockedRequest on %s', (platform) => {
  let url: string;
  const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json();

  beforeAll(async () => {
    const server = await bench.server(platform, { controllers: [Tenants, Roots, Base, Derived] });
    url = server.url;
    latest.locks = server.app.get(LockService);
  });
  beforeEach(() => {
    latest.steps = [];
  });

  it('locks every handler of a controller by what a guard found', async () => {
    expect(await get('/tenants/controller')).toEqual(['tenant:acme']);
    expect(latest.steps).toEqual(['guard ']);
  });

  it('stands around the interceptors after it, controller before handler', async () => {
    expect(await get('/tenants/both')).toEqual(['tenant:acme', 'user:7']);
    expect(latest.steps).toEqual([
      'guard ',
      'begin tenant:acme,user:7',
      'handler',
      'commit tenant:acme,user:7',
    ]);
    for (const key of KEYS) expect((await rival.inspect(key)).state).toBe('free');
  });

  it('stands several times on one handler, the uppermost outside', async () => {
    expect(await get('/tenants/several/1')).toEqual([
      ['tenant:acme', 'outer:1', 'inner:1'],
      'inner:1',
    ]);
  });

  it('takes a function of the context for its key', async () => {
    expect(await get('/tenants/function')).toEqual(['tenant:acme', 'user:7']);
  });

  it('holds the lock to the end of a handler’s Observable', async () => {
    expect(await get('/tenants/stream')).toBe(balance.value);
    expect((await rival.inspect('tenant:acme')).state).toBe('free');
  });

  it('reads body, query, headers, params and ip', async () => {
    const answer = await fetch(`${url}/roots/1?page=2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant': 't' },
      body: JSON.stringify({ order: { id: 5 } }),
    });
    expect(await answer.text()).toBe('5:2:t:1');
    expect(await (await fetch(`${url}/roots/ip`)).text()).toMatch(
      /^from:(%3A%3Affff%3A)?127\.0\.0\.1$/,
    );
  });

  it('answers 400 when the request lacks a value, 500 when it is of another kind', async () => {
    expect((await fetch(`${url}/tenants/none`)).status).toBe(400);
    expect((await fetch(`${url}/roots/data`)).status).toBe(500);
  });

  it('of a parent class holds for its children, beside their own', async () => {
    expect(await get('/base')).toEqual(['base:1']);
    expect(await get('/derived')).toEqual(['outer:1', 'base:1']);
  });

  it('answers at once with the lock free, and 409 while another holds it', async () => {
    const lease = await rival.acquire('user:7');
    expect((await fetch(`${url}/tenants/once`)).status).toBe(409);
    expect((await rival.inspect('tenant:acme')).state).toBe('free');
    await lease.release();
    expect((await fetch(`${url}/tenants/once`)).status).toBe(200);
  });
});

describe('@LockedRequest acts once', () => {
  it('however often its interceptor is registered', async () => {
    @UseInterceptors(LockInterceptor)
    @Controller('tenants')
    class Registered {
      @UseInterceptors(LockInterceptor)
      @LockedRequest('user:7', { reentrant: false, wait: '1s' })
      @UseInterceptors(LockInterceptor)
      @Get('once')
      async once(): Promise<string[]> {
        return held();
      }

      @Get('open')
      async open(): Promise<string[]> {
        return held();
      }
    }
    const server = await bench.server('Express', {
      controllers: [Registered],
      providers: [{ provide: APP_INTERCEPTOR, useClass: LockInterceptor }],
    });
    latest.locks = server.app.get(LockService);
    const once = await fetch(`${server.url}/tenants/once`);
    expect([once.status, await once.json()]).toEqual([200, ['user:7']]);
    expect(await (await fetch(`${server.url}/tenants/open`)).json()).toEqual([]);
    const { lastFencingToken } = await rival.inspect('user:7');
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${server.url}/tenants/once`)));
    expect((await rival.inspect('user:7')).lastFencingToken).toBeGreaterThan(lastFencingToken!);
  });
});

describe('@LockedRequest around a request that is handled again', () => {
  /** What an interceptor of the application makes of the way to the handler. */
  let around: (handled: Observable<unknown>) => Observable<unknown>;
  /** What held the lock in each run. */
  let runs: { readonly held: string[]; readonly token: number | undefined }[] = [];
  let handler: () => Promise<unknown>;
  let url: string;

  @Injectable()
  class Around implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return around(next.handle());
    }
  }

  @LockedRequest('tenant:acme', { wait: 0, reentrant: false })
  @Controller()
  class Tries {
    @LockedRequest('user:7', { wait: 0, reentrant: false })
    @Get('again')
    async again(): Promise<unknown> {
      runs.push({ held: held(), token: latest.locks.current('user:7')?.fencingToken });
      return handler();
    }
  }

  beforeAll(async () => {
    const server = await bench.server('Express', {
      controllers: [Tries],
      providers: [{ provide: APP_INTERCEPTOR, useClass: Around }],
    });
    latest.locks = server.app.get(LockService);
    url = `${server.url}/again`;
  });
  beforeEach(() => {
    runs = [];
    around = retry({ count: 1 });
    handler = async () => 'done';
  });

  const both = ['tenant:acme', 'user:7'];

  it('runs no handler while another holds the lock, however often it is tried', async () => {
    await rival.withLock('user:7', async () => {
      expect((await fetch(url)).status).toBe(409);
    });
    expect(runs).toEqual([]);
  });

  it('holds the lock in each try', async () => {
    handler = () => (runs.length > 1 ? Promise.resolve('done') : Promise.reject(new Error('once')));
    expect(await (await fetch(url)).text()).toBe('done');
    expect(runs.map((run) => run.held)).toEqual([both, both]);
    expect(runs[1]!.token).not.toBe(runs[0]!.token);
    expect((await rival.inspect('user:7')).state).toBe('free');
  });

  it('runs one of two tries that are begun beside each other', async () => {
    const busy = catchError(() => of('busy'));
    around = (handled) => merge(handled.pipe(busy), handled.pipe(busy)).pipe(toArray());
    handler = async () => (await rival.inspect('user:7')).state;
    expect(new Set((await (await fetch(url)).json()) as string[])).toEqual(
      new Set(['busy', 'held']),
    );
    expect(runs.map((run) => run.held)).toEqual([both]);
  });
});

describe('@LockedRequest fails where it stands', () => {
  it.each([
    [
      'for a root that no request has',
      () => LockedRequest('a:<request.id>'),
      /A request has: params/,
    ],
    ['for a malformed key', () => LockedRequest('a:<user.id'), 'without its partner'],
    ['for an empty key', () => LockedRequest(''), 'empty'],
    ['for a wrong option', () => LockedRequest('a', { ttl: 'soon' as '1s' }), '"ttl"'],
    ['for an unknown option', () => LockedRequest('a', { tll: '1s' } as object), '"tll"'],
    ['for onBusy skip', () => LockedRequest('a', { onBusy: 'skip' } as object), 'onBusy'],
    ['for an onBusy function', () => LockedRequest('a', { onBusy: () => 1 } as object), 'onBusy'],
  ])('%s', (_, decorate, message) => {
    expect(decorate).toThrow(LockOptionsError);
    expect(decorate).toThrow(message);
  });

  it.each([
    ['a property', [{}, 'value', undefined]],
    ['a getter', [{}, 'value', { get: () => 1 }]],
    ['a static method', [class {}, 'value', { value: () => 1 }]],
  ])('on %s', (_, args) => {
    expect(() => (LockedRequest('a') as (...args: unknown[]) => void)(...args)).toThrow(
      LockOptionsError,
    );
  });
});

const LOCKS_NOTHING =
  ' locks nothing: it stands on handlers of requests and on their controllers. Use @Locked.';

describe('@LockedRequest fails at start-up', () => {
  it('on a method that is no handler: its interceptor would never run', async () => {
    @Injectable()
    class Service {
      @LockedRequest('a:<user.id>')
      async work(): Promise<void> {}
    }
    await expect(bench.app({ providers: [Service] })).rejects.toThrow(
      `@LockedRequest on Service.work${LOCKS_NOTHING}`,
    );
  });

  it('on a class that is no controller', async () => {
    @LockedRequest('a:<user.id>')
    @Injectable()
    class Service {
      async work(): Promise<void> {}
    }
    await expect(bench.app({ providers: [Service] })).rejects.toThrow(
      `@LockedRequest on Service${LOCKS_NOTHING}`,
    );
  });

  it('for a module that is not imported', async () => {
    @Controller()
    class Bills {
      @LockedRequest('a:<user.id>', { module: 'billing' })
      @Get()
      async work(): Promise<void> {}
    }
    await expect(bench.app({ controllers: [Bills] })).rejects.toThrow('"billing"');
  });
});

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { catchError, merge, Observable, of, retry, tap, toArray } from 'rxjs';
import {
  LockedRequest,
  LockInterceptor,
  lockKey,
  LockOptionsError,
  LockService,
} from '../../lib/index.js';
import { Balance } from '../support/balance.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

/** What happened in the latest request, and under which locks. */
let steps: string[] = [];
let locks: LockService;

const held = (): string[] => KEYS.filter((key) => locks.current(key)?.held);
const KEYS = ['tenant:acme', 'user:7', 'outer:1', 'inner:1', 'base:1'];

@Injectable()
class SignedIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ user: object }>().user = { id: 7, tenantId: 'acme' };
    steps.push(`guard ${held().join()}`);
    return true;
  }
}

@Injectable()
class Transaction implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    steps.push(`begin ${held().join()}`);
    return next.handle().pipe(tap(() => steps.push(`commit ${held().join()}`)));
  }
}

const balance = new Balance();

@Controller('tenants')
@UseGuards(SignedIn)
@LockedRequest('tenant:<user.tenantId>')
class Tenants {
  constructor(private readonly service: LockService) {}

  @Get('controller')
  async controller(): Promise<string[]> {
    return held();
  }

  @LockedRequest('user:<user.id>')
  @UseInterceptors(Transaction)
  @Get('both')
  async both(): Promise<string[]> {
    steps.push('handler');
    return held();
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('inner:<params.id>')
  @Get('several/:id')
  async several(@Param('id', ParseIntPipe) _id: number): Promise<unknown> {
    return [held(), this.service.current()!.key];
  }

  @LockedRequest((context) => lockKey`user:${context.switchToHttp().getRequest().user.id}`)
  @Get('function')
  async function(): Promise<string[]> {
    return held();
  }

  @LockedRequest('user:<user.id>', { reentrant: false, wait: '1s' })
  @Get('once')
  async once(): Promise<string[]> {
    return held();
  }

  @Get('stream')
  stream(): Observable<number> {
    return of(1, 2, balance.value);
  }

  @Get('none')
  @LockedRequest('none:<params.id>')
  async none(): Promise<string> {
    return 'ran';
  }
}

@Controller('roots')
class Roots {
  @LockedRequest('<body.order.id>:<query.page>:<headers.X-Tenant>:<params.id>')
  @Post(':id')
  async post(): Promise<string> {
    return locks.current()!.key;
  }

  @LockedRequest('from:<ip>')
  @Get('ip')
  async ip(): Promise<string> {
    return locks.current()!.key;
  }

  @LockedRequest('chat:<data.room>')
  @Get('data')
  async data(): Promise<string> {
    return 'ran';
  }
}

@LockedRequest('base:1')
@Controller('base')
class Base {
  @Get()
  async get(): Promise<string[]> {
    return held();
  }
}

@LockedRequest('outer:1')
@Controller('derived')
class Derived extends Base {}

describe.each(PLATFORMS)('@LockedRequest on %s', (platform) => {
  let url: string;
  const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json();

  beforeAll(async () => {
    const server = await bench.server(platform, { controllers: [Tenants, Roots, Base, Derived] });
    url = server.url;
    locks = server.app.get(LockService);
  });
  beforeEach(() => {
    steps = [];
  });

  it('locks every handler of a controller by what a guard found', async () => {
    expect(await get('/tenants/controller')).toEqual(['tenant:acme']);
    expect(steps).toEqual(['guard ']);
  });

  it('stands around the interceptors after it, controller before handler', async () => {
    expect(await get('/tenants/both')).toEqual(['tenant:acme', 'user:7']);
    expect(steps).toEqual([
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
    locks = server.app.get(LockService);
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
      runs.push({ held: held(), token: locks.current('user:7')?.fencingToken });
      return handler();
    }
  }

  beforeAll(async () => {
    const server = await bench.server('Express', {
      controllers: [Tries],
      providers: [{ provide: APP_INTERCEPTOR, useClass: Around }],
    });
    locks = server.app.get(LockService);
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

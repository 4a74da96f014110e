import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  type NestInterceptor,
  Param,
  UseInterceptors,
} from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ServerResponse } from 'node:http';
import { catchError, Observable, of, throwError } from 'rxjs';
import { Locked, LockedRequest, LockOptionsError, type LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

let runs: number;
let failures: unknown[];
let started: Gate;
let work: Gate;
let gone: Gate;
beforeEach(() => {
  [runs, failures] = [0, []];
  [started, work, gone] = [new Gate(), new Gate(), new Gate()];
});

async function run(): Promise<string> {
  runs += 1;
  started.open();
  return work.after(Promise.resolve('done'));
}

/** Around the locks: hears how each request ends, and when its client has none any more. */
@Injectable()
class Hears implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<ServerResponse | { raw: ServerResponse }>();
    ('raw' in response ? response.raw : response).once('close', () => gone.open());
    return next.handle().pipe(
      catchError((error: unknown) => {
        failures.push(error);
        return throwError(() => error);
      }),
    );
  }
}

@UseInterceptors(Hears)
@Controller()
class Routes {
  @LockedRequest('key:<params.id>', { wait: '10m' })
  @Get('request/:id')
  async request(): Promise<string> {
    return run();
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('key:<params.id>', { wait: '10m' })
  @Get('inner/:id')
  async inner(): Promise<string> {
    return run();
  }

  @LockedRequest('key:<params.id>', { wait: '10m', leaveWithClient: false })
  @Get('stays/:id')
  async stays(): Promise<string> {
    return run();
  }

  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  @Get('method/:id')
  async method(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @Get('below/:id')
  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  async below(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @applyDecorators(
    Get('several/:id'),
    Locked(['key:<0>', 'other:<0>'], { wait: '10m', leaveWithClient: true }),
  )
  async several(@Param('id') _id: string): Promise<string> {
    return run();
  }

  @Locked('key:<id>', { wait: '10m', leaveWithClient: true })
  @Get('observable/:id')
  observable(@Param('id') _id: string): Observable<string> {
    runs += 1;
    return of('done');
  }

  @Locked('key:<id>', { wait: '10m' })
  @Get('method-stays/:id')
  async methodStays(@Param('id') _id: string): Promise<string> {
    return run();
  }
}

const LEAVING = ['request', 'inner', 'method', 'below', 'several', 'observable'];

describe.each(PLATFORMS)('a request whose client is gone, on %s,', (platform) => {
  const key = `key:${platform}`;
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers: [Routes] }));
  });

  /** Asks, and returns how its client goes away. */
  const ask = (route: string): (() => void) => {
    const client = new AbortController();
    fetch(`${url}/${route}/${platform}`, { signal: client.signal }).catch(() => {});
    return () => client.abort();
  };

  it.each(LEAVING)('leaves the queue, and its handler never starts: %s', async (route) => {
    await rival.withLock(key, async () => {
      const goAway = ask(route);
      await untilWaiting(rival, key);
      goAway();
      await untilWaiting(rival, key, 0);
      if (route === 'observable') return; // Nest leaves it by itself, and tells nobody
      await until('the interceptors have heard', () => failures.length === 1);
      expect((failures[0] as HttpException).getStatus()).toBe(499);
    });
    await untilFree(rival, key);
    await untilFree(rival, `outer:${platform}`);
    await untilFree(rival, `other:${platform}`);
    expect(runs).toBe(0);
  });

  it.each(LEAVING.slice(0, -1))('keeps its lock while its handler runs: %s', async (route) => {
    const goAway = ask(route);
    await started.opened;
    goAway();
    await gone.opened;
    expect(await rival.tryAcquire(key)).toBeNull();
    work.open();
    await untilFree(rival, key);
    expect(failures).toEqual([]);
  });

  it.each(['stays', 'method-stays'])('waits on where it is told to: %s', async (route) => {
    await rival.withLock(key, async () => {
      const goAway = ask(route);
      await untilWaiting(rival, key);
      goAway();
      await gone.opened;
    });
    await started.opened;
    work.open();
    await untilFree(rival, key);
    expect(runs).toBe(1);
  });

  it('answers others as ever', async () => {
    work.open();
    for (const route of [...LEAVING, 'stays', 'method-stays']) {
      expect(await (await fetch(`${url}/${route}/${platform}`)).text()).toBe('done');
    }
  });
});

describe('leaveWithClient', () => {
  it('has a client in a request that is injected into Fastify', async () => {
    const module = await bench.builder({ controllers: [Routes] }).compile();
    const app = await bench.use(
      module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false }),
    );
    work.open();
    for (const route of LEAVING) {
      expect((await app.inject(`/${route}/injected`)).body).toBe('done');
    }
  });

  it('is refused at start-up on a method of which no request waits', async () => {
    class Service {
      @Locked('a', { leaveWithClient: true })
      async work(): Promise<void> {}
    }
    await expect(bench.app({ providers: [Service] })).rejects.toThrow(
      new LockOptionsError(
        '@Locked on Service.work has "leaveWithClient", but no HTTP request waits there: it stands on routes.',
      ),
    );
  });

  it.each([
    ['@Locked', () => Locked('a', { leaveWithClient: 'yes' as never })],
    ['@LockedRequest', () => LockedRequest('a', { leaveWithClient: 1 as never })],
  ])('is true or false: %s', (_, decorator) => {
    const apply = (): void => {
      class Wrong {
        async work(): Promise<void> {}
      }
      const descriptor = Object.getOwnPropertyDescriptor(Wrong.prototype, 'work')!;
      (decorator() as MethodDecorator)(Wrong.prototype, 'work', descriptor);
    };
    expect(apply).toThrow('Option "leaveWithClient" takes true or false.');
  });
});

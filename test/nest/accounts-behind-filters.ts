import { afterAll, beforeAll } from '@jest/globals';
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  type INestApplication,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Param,
  Query,
  RequestMethod,
  Sse,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { ServerResponse } from 'node:http';
import { catchError, concat, defer, type Observable, of } from 'rxjs';
import { Locked, LockedRequest, LockNotAcquiredError, LockService } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { fail, failing, SECRET } from '../support/failing.js';
import { type Platform } from '../support/nest-app.js';

class Refuses {
  async canActivate(): Promise<boolean> {
    fail('thrown');
    return true;
  }
}

class FallsBack implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(catchError((error: unknown) => of(error instanceof HttpException ? 'http' : 'plain')));
  }
}

/** A middleware that fails as the end of the path says, and before that begins its answer where the query says so. */
function fails({ originalUrl }: { originalUrl: string }, response: ServerResponse): void {
  const { pathname, search } = new URL(originalUrl, 'http://localhost');
  if (search) response.write('begun,');
  fail(pathname.split('/').at(-1)!);
}

@Module({})
class Middlewares implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(fails).forRoutes({ path: 'behind/:kind', method: RequestMethod.GET });
  }
}

/** Its locks `account:${SECRET}` and `seats:${SECRET}` are taken, so that whoever asks for them is answered with an error. */
@Controller()
export class Accounts {
  constructor(private readonly locks: LockService) {}

  @Locked('account:<id>', { wait: 0 })
  @Get('busy/:id')
  async busy(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get('service/:id')
  async service(@Param('id') id: string): Promise<string> {
    return this.locks.withLock(`account:${id}`, { wait: 0 }, async () => id);
  }

  @Locked('account:<id>', { wait: 0 })
  @Get('rows/:id')
  async *rows(@Param('id') id: string): AsyncGenerator<string> {
    yield id;
  }

  @Get('rows-of-service/:id')
  async *rowsOfService(@Param('id') id: string): AsyncGenerator<string> {
    yield await this.service(id);
  }

  @LockedRequest('rows:<params.id>')
  @Get('rows-of-request/:id')
  async *rowsOfRequest(@Param('id') id: string): AsyncGenerator<string> {
    yield await this.service(id);
  }

  @Get('rows-to-the-end/:id')
  async *rowsToTheEnd(@Param('id') id: string): AsyncGenerator<string> {
    yield 'first';
    yield await this.service(id);
  }

  @Locked('seats:<id>', { wait: 0, permits: 1 })
  @Get('seats/:id')
  async seats(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get('fails/:kind')
  async fails(@Param('kind') kind: string): Promise<void> {
    fail(kind);
  }

  @Get('behind/:kind')
  async behind(): Promise<void> {}

  @Get('guarded')
  @UseGuards(Refuses)
  async guarded(): Promise<void> {}

  @Get('fallback')
  @UseInterceptors(FallsBack)
  async fallback(): Promise<void> {
    fail('thrown');
  }

  @Sse('stream')
  stream(): Observable<object> {
    return concat(
      of({ data: 'first' }),
      defer(async () => {
        fail('lost');
        return {};
      }),
    );
  }

  @Locked('tenant:<tenant>')
  @Get('forgotten')
  async forgotten(@Query('tenant') tenant: string): Promise<string> {
    return tenant;
  }
}

/** As Nest's documentation writes it, with the message that many add. */
@Catch()
export class CatchesAll implements ExceptionFilter {
  constructor(private readonly adapters: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    const message = exception instanceof HttpException ? exception.message : 'Unknown';
    const body = { by: 'CatchesAll', status, message };
    this.adapters.httpAdapter.reply(host.switchToHttp().getResponse(), body, status);
  }
}

/** Sends the exception itself: all that a serializer finds in it. */
@Catch(HttpException)
export class SendsAll implements ExceptionFilter<HttpException> {
  constructor(private readonly adapters: HttpAdapterHost) {}

  catch(exception: HttpException, host: ArgumentsHost): void {
    const body = Object.assign({ exception, message: exception.message }, exception);
    const response = host.switchToHttp().getResponse<unknown>();
    this.adapters.httpAdapter.reply(response, body, exception.getStatus());
  }
}

/** As an application of today may have it, for one error of ours. */
@Catch(LockNotAcquiredError)
export class CatchesBusy implements ExceptionFilter<LockNotAcquiredError> {
  static caught: LockNotAcquiredError | undefined;

  constructor(private readonly adapters: HttpAdapterHost) {}

  catch(error: LockNotAcquiredError, host: ArgumentsHost): void {
    CatchesBusy.caught = error;
    const { httpAdapter } = this.adapters;
    httpAdapter.reply(host.switchToHttp().getResponse(), { by: 'CatchesBusy' }, 423);
  }
}

@Catch()
class Extends extends BaseExceptionFilter {}

@UseFilters(CatchesAll)
@Controller()
class FilteredController extends Accounts {}

interface Arrangement {
  readonly controller?: Type;
  readonly providers?: NonNullable<Parameters<typeof Test.createTestingModule>[0]['providers']>;
  readonly use?: (app: INestApplication) => void;
}

export const host = (app: INestApplication): HttpAdapterHost => app.get(HttpAdapterHost);

/** The ways in which a team puts a filter of its own for everything. */
export const OWN: Record<string, Arrangement> = {
  APP_FILTER: { providers: [{ provide: APP_FILTER, useClass: CatchesAll }] },
  'a global filter': { use: (app) => app.useGlobalFilters(new CatchesAll(host(app))) },
  '@UseFilters': { controller: FilteredController },
};

/** The way that Nest's documentation shows for what it answers by itself. */
export const EXTENDED: Arrangement = {
  use: (app) => app.useGlobalFilters(new Extends(host(app).httpAdapter)),
};

/** Applications that are asked for accounts, what they log, and the server that they lock on. */
export function useAccounts() {
  const failure = failing();
  const { server, log } = failure;
  const apps: INestApplication[] = [];
  beforeAll(async () => {
    await failure.rival.semaphore(`seats:${SECRET}`, { permits: 1 }).acquire({ ttl: '10m' });
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
  });

  async function start(
    platform: Platform,
    { controller = Accounts, providers = [], use }: Arrangement = {},
    locks = LockTestingModule.forRoot({ server }),
  ): Promise<string> {
    // The application's own providers stand in the root, as where a team writes them.
    const module = await Test.createTestingModule({
      imports: [locks, Middlewares],
      controllers: [controller],
      providers,
    }).compile();
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter();
    const app = module.createNestApplication(adapter, { forceCloseConnections: true });
    apps.push(app);
    use?.(app);
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  }

  return { server, log, apps, start };
}

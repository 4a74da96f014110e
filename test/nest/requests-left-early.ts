// Requests that an interceptor around the lock, one inside it or their clients leave, wherever they are.
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type MessageEvent,
  type NestInterceptor,
  Param,
  type PipeTransform,
  Req,
  Sse,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { defaultIfEmpty, firstValueFrom, Observable, of, retry, Subject, takeUntil } from 'rxjs';
import { LockedRequest, LockInterceptor } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

/** How a request goes in one test: what the test opens for it, and what it sees of it. */
class RequestProbe {
  /** The interceptor around the lock answers. */
  leave = new Subject<void>();
  /** The interceptor inside the lock answers. */
  early = new Subject<void>();
  /** A handler, or a pipe before it, has begun, and goes on with `work`. */
  started = new Gate();
  work = new Gate();
  /** The client has left. */
  gone = new Gate();
  unsubscribed = new Gate();
  runs = 0;
  file = new PassThrough();

  /** For the next test. */
  reset(): void {
    Object.assign(this, new RequestProbe());
  }
}

export const probe = new RequestProbe();

const store = new AsyncLocalStorage<string>();

/** Stands around the lock, as an interceptor that limits the time of a request does. */
@Injectable()
class Leaves implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    watch(context.switchToHttp().getRequest<IncomingMessage>());
    return store
      .run('around', () => next.handle())
      .pipe(takeUntil(probe.leave), defaultIfEmpty('left'));
  }
}

/** Stands inside the lock, and answers before the handler. */
@Injectable()
class Early implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(takeUntil(probe.early), defaultIfEmpty('early'));
  }
}

/** Stands inside the lock, and calls the handler again for as long as it fails. */
@Injectable()
class Retries implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry({ delay: 10 }));
  }
}

/** Node's own request, which Fastify wraps. */
const watch = (request: IncomingMessage | { raw: IncomingMessage }): void => {
  const { socket } = 'raw' in request ? request.raw : request;
  socket.once('close', () => probe.gone.open());
};

async function run<Answer>(answer: Answer): Promise<Answer> {
  probe.runs += 1;
  probe.started.open();
  return probe.work.after(Promise.resolve(answer));
}

/** A pipe that asks elsewhere. */
@Injectable()
class SlowPipe implements PipeTransform<string, Promise<string>> {
  async transform(value: string): Promise<string> {
    probe.started.open();
    return probe.work.after(Promise.resolve(value));
  }
}

/** An Observable without values. */
const silent = new Observable<never>(() => {
  probe.started.open();
  return () => probe.unsubscribed.open();
});

@UseInterceptors(Leaves, LockInterceptor)
@Controller()
export class Left {
  @LockedRequest('one:<params.id>', { wait: '10m' })
  @Get('one/:id')
  async one(): Promise<string> {
    return run('done');
  }

  @LockedRequest('outer:<params.id>')
  @LockedRequest('inner:<params.id>', { wait: '10m' })
  @Get('two/:id')
  async two(): Promise<string> {
    return run('done');
  }

  @LockedRequest('file:<params.id>')
  @Get('file/:id')
  async file(): Promise<StreamableFile> {
    return run(new StreamableFile(probe.file));
  }

  @LockedRequest('one:<params.id>')
  @UseInterceptors(Retries)
  @Get('retried/:id')
  async retried(): Promise<string> {
    await run('fails');
    throw new Error('fails');
  }

  @LockedRequest('one:<params.id>')
  @UseInterceptors(Early)
  @Get('early/:id')
  async early(): Promise<string> {
    return run('done');
  }

  @LockedRequest('piped:<params.id>')
  @UseInterceptors(Early)
  @Get('early-piped/:id')
  async earlyPiped(@Param('id', SlowPipe) _id: string): Promise<string> {
    probe.runs += 1;
    return 'done';
  }

  @LockedRequest('piped:<params.id>')
  @Get('piped/:id')
  async piped(@Param('id', SlowPipe) _id: string): Promise<string> {
    probe.runs += 1;
    return 'done';
  }

  @LockedRequest('piped:<params.id>')
  @Get('piped-stream/:id')
  pipedStream(@Param('id', SlowPipe) _id: string): Observable<string> {
    probe.runs += 1;
    return of('done');
  }

  @LockedRequest('piped:<params.id>', { leaveWithClient: false })
  @Get('piped-stays/:id')
  async pipedStays(@Param('id', SlowPipe) _id: string): Promise<string> {
    probe.runs += 1;
    return 'done';
  }

  @LockedRequest('quiet:<params.id>')
  @Get('quiet/:id')
  async quiet(): Promise<Observable<never>> {
    return silent;
  }

  @LockedRequest('quiet:<params.id>')
  @Get('undeclared/:id')
  undeclared(): unknown {
    return silent;
  }

  @LockedRequest('quiet:<params.id>')
  @Get('twice/:id')
  @LockedRequest('inner:<params.id>')
  async twice(): Promise<Observable<never>> {
    return silent;
  }

  @LockedRequest('context:<params.id>')
  @Get('context/:id')
  async context(): Promise<string> {
    return String(store.getStore());
  }

  @LockedRequest('context:<params.id>')
  @Sse('events/:id')
  events(): Observable<MessageEvent> {
    return of({ data: String(store.getStore()) });
  }
}

class Inherited {
  @Sse('inherited/:id')
  async inherited(): Promise<Observable<MessageEvent>> {
    return silent;
  }
}

@LockedRequest('endless:<params.id>')
@Controller()
export class AllOpen extends Inherited {
  @Sse('all/:id')
  async all(): Promise<Observable<MessageEvent>> {
    return silent;
  }
}

/** Adds a handler under its parent's lock. */
@Controller('more')
export class MoreOpen extends AllOpen {
  @Sse('added/:id')
  async added(): Promise<Observable<MessageEvent>> {
    return silent;
  }
}

@LockedRequest('items:<params.id>')
@UseInterceptors(Leaves, LockInterceptor)
abstract class Items {
  @Get('find/:id')
  async find(): Promise<string> {
    probe.runs += 1;
    return 'found';
  }

  @Get('create/:id')
  async create(): Promise<string> {
    probe.runs += 1;
    return 'created';
  }

  @Get('list/:id')
  list(): Observable<string> {
    return of('listed');
  }
}

/** Calls its parent's handlers in its own. */
@Controller('orders')
export class Orders extends Items {
  @Get('create/:id')
  override async create(): Promise<string> {
    await run('audited');
    return super.create();
  }

  @Get('copy/:id')
  async copy(): Promise<string> {
    await run('audited');
    return this.find();
  }

  @Get('sum/:id')
  async sum(): Promise<string> {
    return run(await firstValueFrom(this.list()));
  }

  @Get('piped/:id')
  piped(@Param('id', SlowPipe) _id: string): Observable<string> {
    probe.runs += 1;
    return of('done');
  }
}

@Controller()
export class Open {
  @LockedRequest('endless:<params.id>')
  @Get('endless/:id')
  endless(): Observable<never> {
    return silent;
  }

  @LockedRequest('endless:<params.id>')
  @Sse('events-later/:id')
  async eventsLater(): Promise<Observable<MessageEvent>> {
    return silent;
  }

  @LockedRequest('set-up:<params.id>')
  @Sse('silent-later/:id')
  async silentLater(@Req() request: IncomingMessage): Promise<Observable<MessageEvent>> {
    watch(request);
    return run(silent);
  }

  @LockedRequest('set-up:<params.id>')
  @Sse('set-up/:id')
  async setUp(
    @Param('id') id: string,
    @Req() request: IncomingMessage,
  ): Promise<Observable<MessageEvent>> {
    watch(request);
    return run(of({ data: id }, { data: id }));
  }
}

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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
import { defaultIfEmpty, Observable, of, Subject, takeUntil } from 'rxjs';
import { LockedRequest, LockInterceptor, type LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

/** What each test makes of its requests. */
let leave: Subject<void>;
let early: Subject<void>;
let started: Gate;
let work: Gate;
let gone: Gate;
let unsubscribed: Gate;
let runs: number;
let file: PassThrough;
beforeEach(() => {
  [leave, early] = [new Subject(), new Subject()];
  [started, work, gone, unsubscribed] = [new Gate(), new Gate(), new Gate(), new Gate()];
  runs = 0;
  file = new PassThrough();
});

const store = new AsyncLocalStorage<string>();

/** Stands around the lock, as an interceptor that limits the time of a request does. */
@Injectable()
class Leaves implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return store.run('around', () => next.handle()).pipe(takeUntil(leave), defaultIfEmpty('left'));
  }
}

/** Stands inside the lock, and answers before the handler. */
@Injectable()
class Early implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(takeUntil(early), defaultIfEmpty('early'));
  }
}

/** Node's own request, which Fastify wraps. */
const watch = (request: IncomingMessage | { raw: IncomingMessage }): void => {
  const { socket } = 'raw' in request ? request.raw : request;
  socket.once('close', () => gone.open());
};

async function run<Answer>(answer: Answer): Promise<Answer> {
  runs += 1;
  started.open();
  return work.after(Promise.resolve(answer));
}

/** A pipe that asks elsewhere. */
@Injectable()
class SlowPipe implements PipeTransform<string, Promise<string>> {
  async transform(value: string): Promise<string> {
    started.open();
    return work.after(Promise.resolve(value));
  }
}

/** An Observable without values. */
const silent = new Observable<never>(() => {
  started.open();
  return () => unsubscribed.open();
});

@UseInterceptors(Leaves, LockInterceptor)
@Controller()
class Left {
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
    return run(new StreamableFile(file));
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
    runs += 1;
    return 'done';
  }

  @LockedRequest('piped:<params.id>')
  @Get('piped/:id')
  async piped(@Param('id', SlowPipe) _id: string): Promise<string> {
    runs += 1;
    return 'done';
  }

  @LockedRequest('piped:<params.id>')
  @Get('piped-stream/:id')
  pipedStream(@Param('id', SlowPipe) _id: string): Observable<string> {
    runs += 1;
    return of('done');
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
class AllOpen extends Inherited {
  @Sse('all/:id')
  async all(): Promise<Observable<MessageEvent>> {
    return silent;
  }
}

@Controller()
class Open {
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

describe.each(PLATFORMS)(
  'a request under @LockedRequest that is left, on %s,',
  (platform: Platform) => {
    let url: string;
    beforeAll(async () => {
      ({ url } = await bench.server(platform, { controllers: [Left, Open, AllOpen] }));
    });

    const answerTo = async (path: string): Promise<string> =>
      (await fetch(`${url}/${path}`)).text();

    it('leaves the queue, and its handler never starts', async () => {
      const lease = await rival.acquire(`one:${platform}`);
      const answer = answerTo(`one/${platform}`);
      await untilWaiting(rival, `one:${platform}`);
      leave.next();
      expect(await answer).toBe('left');
      await untilWaiting(rival, `one:${platform}`, 0);
      await lease.release();
      expect(await state(`one:${platform}`)).toBe('free');
      expect(runs).toBe(0);
    });

    it('leaves the queue of one lock, and gives the other one back', async () => {
      const lease = await rival.acquire(`inner:${platform}`);
      const answer = answerTo(`two/${platform}`);
      await untilWaiting(rival, `inner:${platform}`);
      leave.next();
      expect(await answer).toBe('left');
      await untilWaiting(rival, `inner:${platform}`, 0);
      await untilFree(rival, `outer:${platform}`);
      await lease.release();
      expect(await state(`inner:${platform}`)).toBe('free');
      expect(runs).toBe(0);
    });

    it.each([
      ['one', ['one']],
      ['two', ['outer', 'inner']],
    ])('keeps its locks until its async handler has ended: %s', async (route, names) => {
      const answer = answerTo(`${route}/${platform}`);
      await started.opened;
      leave.next();
      expect(await answer).toBe('left');
      for (const name of names) expect(await state(`${name}:${platform}`)).toBe('held');
      work.open();
      for (const name of names) await untilFree(rival, `${name}:${platform}`);
    });

    it('keeps no stream that its handler returns afterwards', async () => {
      const answer = answerTo(`file/${platform}`);
      await started.opened;
      leave.next();
      expect(await answer).toBe('left');
      work.open();
      await until('the stream is destroyed', () => file.destroyed);
      await untilFree(rival, `file:${platform}`);
    });

    it('waits for a pipe before its async handler, and the handler never starts', async () => {
      const answer = answerTo(`piped/${platform}`);
      await started.opened;
      leave.next();
      expect(await answer).toBe('left');
      expect(await state(`piped:${platform}`)).toBe('held');
      work.open();
      await untilFree(rival, `piped:${platform}`);
      expect(runs).toBe(0);
    });

    it('leaves a pipe before a handler of an Observable, which never starts', async () => {
      const answer = answerTo(`piped-stream/${platform}`);
      await started.opened;
      leave.next();
      expect(await answer).toBe('left');
      await untilFree(rival, `piped:${platform}`);
      work.open();
      await answerTo(`context/${platform}`);
      expect(runs).toBe(0);
    });

    it('keeps its lock until its handler has ended also where an interceptor inside answers first', async () => {
      const answer = answerTo(`early/${platform}`);
      await started.opened;
      early.next();
      await answerTo(`context/${platform}`);
      expect(await state(`one:${platform}`)).toBe('held');
      work.open();
      expect(await answer).toBe('early');
      await untilFree(rival, `one:${platform}`);
    });

    it('never starts its handler after an interceptor inside has answered', async () => {
      const answer = answerTo(`early-piped/${platform}`);
      await started.opened;
      early.next();
      expect(await answer).toBe('early');
      await untilFree(rival, `piped:${platform}`);
      work.open();
      await answerTo(`context/${platform}`);
      expect(runs).toBe(0);
    });

    it.each(['quiet', 'undeclared', 'twice'])(
      'leaves the Observable that its handler has returned: %s',
      async (route) => {
        const answer = answerTo(`${route}/${platform}`);
        await started.opened;
        leave.next();
        expect(await answer).toBe('left');
        await unsubscribed.opened;
        await untilFree(rival, `quiet:${platform}`);
        await untilFree(rival, `inner:${platform}`);
      },
    );

    it.each(['endless', 'events-later', 'all', 'inherited'])(
      'leaves the Observable that its handler has returned when its client goes away: %s',
      async (route) => {
        const client = new AbortController();
        const answer = fetch(`${url}/${route}/${platform}`, { signal: client.signal });
        answer.catch(() => {});
        await started.opened;
        client.abort();
        await unsubscribed.opened;
        await untilFree(rival, `endless:${platform}`);
      },
    );

    it.each(['set-up', 'silent-later'])(
      'keeps the lock while its events are set up: %s',
      async (route) => {
        const client = new AbortController();
        const answer = fetch(`${url}/${route}/${platform}`, { signal: client.signal }).catch(
          () => {},
        );
        await started.opened;
        client.abort();
        await gone.opened;
        expect(await state(`set-up:${platform}`)).toBe('held');
        work.open();
        await untilFree(rival, `set-up:${platform}`);
        await answer;
      },
    );

    it('has had the asynchronous context of the interceptors around it', async () => {
      expect(await answerTo(`context/${platform}`)).toBe('around');
      expect(await answerTo(`events/${platform}`)).toContain('data: around');
    });
  },
);

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
  Req,
  Sse,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { defaultIfEmpty, finalize, NEVER, Observable, of, Subject, takeUntil } from 'rxjs';
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
let started: Gate;
let work: Gate;
let gone: Gate;
let unsubscribed: Gate;
let runs: number;
let file: PassThrough;
beforeEach(() => {
  leave = new Subject();
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

const endless = NEVER.pipe(finalize(() => unsubscribed.open()));

@Controller()
class Open {
  @LockedRequest('endless:<params.id>')
  @Get('endless/:id')
  endless(): Observable<never> {
    started.open();
    return endless;
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
      ({ url } = await bench.server(platform, { controllers: [Left, Open] }));
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

    it('leaves the Observable that its handler has returned', async () => {
      const client = new AbortController();
      const answer = fetch(`${url}/endless/${platform}`, { signal: client.signal });
      await started.opened;
      client.abort();
      await expect(answer).rejects.toThrow('aborted');
      await unsubscribed.opened;
      await untilFree(rival, `endless:${platform}`);
    });

    it('keeps the lock while its events are set up', async () => {
      const client = new AbortController();
      const answer = fetch(`${url}/set-up/${platform}`, { signal: client.signal }).catch(() => {});
      await started.opened;
      client.abort();
      await gone.opened;
      expect(await state(`set-up:${platform}`)).toBe('held');
      work.open();
      await untilFree(rival, `set-up:${platform}`);
      await answer;
    });

    it('has had the asynchronous context of the interceptors around it', async () => {
      expect(await answerTo(`context/${platform}`)).toBe('around');
      expect(await answerTo(`events/${platform}`)).toContain('data: around');
    });
  },
);

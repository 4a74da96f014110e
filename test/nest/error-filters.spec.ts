import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, ExternalContextCreator } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { isLockError, LockError, LockService, RedisLockModule } from '../../lib/index.js';
import { LockTestingModule, memoryLockService } from '../../lib/memory/testing/index.js';
import { ANSWERS, expectLogged, expectPublic, SECRET } from '../support/failing.js';
import { PLATFORMS } from '../support/nest-app.js';
import {
  Accounts,
  CatchesAll,
  CatchesBusy,
  EXTENDED,
  host,
  OWN,
  SendsAll,
  useAccounts,
} from './accounts-behind-filters.js';

const { server, log, apps, start } = useAccounts();

describe.each(PLATFORMS)('on %s', (platform) => {
  describe('an application without filters', () => {
    let url: string;
    beforeAll(async () => {
      url = await start(platform);
    });

    it.each(ANSWERS)('answers %s with %i %s', (...row) => expectAnswer(url + path(row[0]), row));

    it.each(ANSWERS.filter(([kind]) => kind !== 'busy'))(
      'answers the same for a middleware: %s with %i %s',
      (...row) => expectAnswer(`${url}/behind/${row[0]}`, row),
    );

    it('ends the answer that a middleware had begun', async () => {
      const answer = await fetch(`${url}/behind/thrown?begun`);
      expect([answer.status, await answer.text()]).toEqual([200, 'begun,']);
    });

    it('answers the same for a lock of the service, and in a guard', async () => {
      for (const each of [`/service/${SECRET}`, '/guarded']) {
        const answer = await fetch(url + each);
        expectPublic(await answer.text());
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '1']);
      }
    });

    it('shows its own interceptors the error as it is', async () => {
      expect(await (await fetch(`${url}/fallback`)).text()).toBe('plain');
    });

    it('tells a stream of events no more', async () => {
      const text = await (await fetch(`${url}/stream`)).text();
      expect(text).toContain('data: The request was not handled');
      expectPublic(text);
      expectLogged(log.lines, 500);
    });

    it('logs which value of a key its own code left out', async () => {
      expect((await fetch(`${url}/forgotten`)).status).toBe(400);
      expect(log.lines).toEqual([
        {
          level: 'warn',
          text: expect.stringContaining(
            '<tenant> in the lock\'s key "tenant:<tenant>" is undefined',
          ),
        },
      ]);
    });
  });

  describe.each(Object.keys(OWN))('an application with a catch-all by %s', (way) => {
    let url: string;
    beforeAll(async () => {
      url = await start(platform, OWN[way]);
    });

    it.each(ANSWERS)('decides itself about %s, knowing its status %i', async (kind, status) => {
      const answer = await fetch(url + path(kind));
      const body = await answer.text();
      expectPublic([body, Object.fromEntries(answer.headers)]);
      expect([answer.status, JSON.parse(body)]).toEqual([
        status,
        { by: 'CatchesAll', status, message: expect.any(String) },
      ]);
      expectLogged(log.lines, status);
    });

    it('decides itself about a lock of the service', async () => {
      expect((await fetch(`${url}/service/${SECRET}`)).status).toBe(409);
    });
  });

  it.each(ANSWERS)('a subclass of BaseExceptionFilter answers %s with %i %s', async (...row) => {
    subclass ??= start(platform, EXTENDED);
    await expectAnswer((await subclass) + path(row[0]), row);
  });
  let subclass: Promise<string> | undefined;

  it('a filter that sends the exception as it is shows no key', async () => {
    const url = await start(platform, {
      use: (app) => app.useGlobalFilters(new SendsAll(host(app))),
    });
    for (const [kind, status] of ANSWERS) {
      const answer = await fetch(url + path(kind));
      expectPublic(await answer.text());
      expect(answer.status).toBe(status);
    }
  });

  it('a filter for one error of ours catches it, and leaves the others', async () => {
    const url = await start(platform, {
      providers: [{ provide: APP_FILTER, useClass: CatchesBusy }],
    });
    const busy = await fetch(url + path('busy'));
    expect([busy.status, await busy.json()]).toEqual([423, { by: 'CatchesBusy' }]);
    const { caught } = CatchesBusy;
    expect([caught!.key, caught!.code, caught!.name, caught!.waited]).toEqual([
      `account:${SECRET}`,
      'LOCK_NOT_ACQUIRED',
      'LockNotAcquiredError',
      0,
    ]);
    expect((caught!.cause as Error).message).toContain(SECRET);
    expect((await fetch(url + path('store'))).status).toBe(503);
  });

  it('with mapErrors: false nothing is mapped', async () => {
    const seen: unknown[] = [];
    @Catch()
    class Sees extends BaseExceptionFilter {
      override catch(exception: unknown, context: ArgumentsHost): void {
        seen.push(exception);
        // oxlint-disable-next-line promise/valid-params -- a filter of Nest, no promise
        super.catch(exception, context);
      }
    }
    const url = await start(
      platform,
      { use: (app) => app.useGlobalFilters(new Sees(host(app).httpAdapter)) },
      LockTestingModule.forRoot({ server, mapErrors: false }),
    );
    for (const each of [path('busy'), `/service/${SECRET}`, path('lost'), '/guarded']) {
      const answer = await fetch(url + each);
      expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
        500,
        null,
        { statusCode: 500, message: 'Internal server error' },
      ]);
    }
    expect(seen.length).toBe(4);
    for (const each of seen) {
      expect(each).toBeInstanceOf(LockError);
      expect(isLockError(each)).toBe(true);
      expect(each).not.toBeInstanceOf(HttpException);
      expect((each as Error).message).toContain(SECRET);
    }
  });
});

/** Nest sends rows since version 12. */
const describeFrom12 = process.env['NEST'] === '11' ? describe.skip : describe;

describeFrom12.each(PLATFORMS)('an answer of rows on %s', (platform) => {
  const ways = { 'no filter': {}, ...OWN, 'a subclass of BaseExceptionFilter': EXTENDED };

  describe.each(Object.entries(ways))('in an application with %s', (way, arrangement) => {
    let url: string;
    beforeAll(async () => {
      url = await start(platform, arrangement);
    });

    it.each(['rows', 'rows-of-service', 'rows-of-request'])(
      'has the status of the error that its first row ended in: %s',
      async (route) => {
        const answer = await fetch(`${url}/${route}/${SECRET}`);
        const body = await answer.text();
        expectPublic([body, Object.fromEntries(answer.headers)]);
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '1']);
        const told = way in OWN ? { by: 'CatchesAll' } : { code: 'LOCK_NOT_ACQUIRED' };
        expect(JSON.parse(body)).toMatchObject(told);
        expect(log.lines).toEqual([]);
      },
    );

    it('breaks off at a later row, and the log says why', async () => {
      const answer = await fetch(`${url}/rows-to-the-end/${SECRET}`);
      await expect(answer.text()).rejects.toThrow('terminated');
      expect(log.lines).toEqual([{ level: 'error', text: expect.stringContaining(SECRET) }]);
    });
  });
});

it('the service of a test, put in the place of the real one, answers too', async () => {
  const module = await Test.createTestingModule({
    imports: [RedisLockModule.forRoot({ lazyConnect: true })],
    controllers: [Accounts],
  })
    .overrideProvider(LockService)
    .useValue(memoryLockService({ server }))
    .compile();
  const app = module.createNestApplication(new ExpressAdapter(), { forceCloseConnections: true });
  apps.push(app);
  app.useGlobalFilters(new CatchesAll(host(app)));
  await app.listen(0, '127.0.0.1');
  expect((await fetch((await app.getUrl()) + path('busy'))).status).toBe(409);
});

it.each([true, false])(
  'code that another library calls through Nest fails with the error itself (interceptors: %s)',
  async (interceptors) => {
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot({ server })],
      providers: [Accounts],
    }).compile();
    const app = await module.createNestApplication(new ExpressAdapter()).init();
    apps.push(app);
    const accounts = app.get(Accounts);
    const options = { interceptors, guards: true, filters: true };
    for (const method of ['busy', 'fails'] as const) {
      // As a listener of events or a bot does: no request, and the context type that Nest assumes.
      const call = app
        .get(ExternalContextCreator)
        .create(
          accounts,
          accounts[method] as (...args: unknown[]) => unknown,
          method,
          undefined,
          undefined,
          undefined,
          undefined,
          options,
        );
      const outcome = call(method === 'busy' ? SECRET : 'store');
      await expect(outcome).rejects.toMatchObject({
        message: expect.stringContaining(SECRET),
        code: method === 'busy' ? 'LOCK_NOT_ACQUIRED' : 'LOCK_STORE',
      });
    }
  },
);

function path(kind: string): string {
  if (kind === 'busy') return `/busy/${SECRET}`;
  return kind === 'permits' ? `/seats/${SECRET}` : `/fails/${kind}`;
}

/** What a client is told, which has no key in it, and what the log has. */
async function expectAnswer(
  url: string,
  [, status, code, retryAfter]: (typeof ANSWERS)[number],
): Promise<void> {
  const answer = await fetch(url);
  const body = await answer.text();
  expectPublic([body, Object.fromEntries(answer.headers)]);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('retry-after')).toBe(retryAfter ? String(retryAfter) : null);
  expect(JSON.parse(body)).toEqual({
    statusCode: status,
    error: expect.any(String),
    code,
    message: expect.any(String),
  });
  expectLogged(log.lines, status);
}

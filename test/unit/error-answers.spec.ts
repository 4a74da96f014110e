import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ArgumentsHost, type ExecutionContext, Logger } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { lastValueFrom, throwError } from 'rxjs';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import { LockErrorFilter } from '../../lib/nest/interceptors/lock-error.filter.js';
import { LockErrorInterceptor } from '../../lib/nest/interceptors/lock-error.interceptor.js';

const error = new LockNotAcquiredError('k', 0, 0);
/** What a client of a gateway is told of it, beside when to try again. */
const told = { status: 'error', code: 'LOCK_NOT_ACQUIRED', message: expect.any(String) };

/** What was done for a client. */
let done: unknown[];
let hasBegun: boolean;
let filter: LockErrorFilter;
let interceptor: LockErrorInterceptor;

beforeEach(() => {
  [done, hasBegun] = [[], false];
  jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
  const adapters = platform();
  [filter, interceptor] = [new LockErrorFilter(adapters), new LockErrorInterceptor(adapters)];
});

afterEach(() => void jest.restoreAllMocks());

describe.each([
  ["of Node's own, as Express and a middleware have it", nodes],
  ['of Fastify', () => ({ header() {} })],
])('on HTTP an error of this library, in a response %s,', (_whose, response) => {
  const http = (): ExecutionContext & ArgumentsHost => over('http', [{}, response()]);

  it('says when to try again, in an answer that has not begun', async () => {
    await expect(intercepted(http())).rejects.toMatchObject({ status: 409 });
    expect(done).toEqual([['Retry-After', '1']]);
    caught(http());
    expect(done.slice(1)).toEqual([['Retry-After', '1'], 409]);
  });

  it('sets no header in an answer that has begun, and ends it', async () => {
    hasBegun = true;
    await expect(intercepted(http())).rejects.toMatchObject({ status: 409 });
    expect(done).toEqual([]);
    caught(http());
    expect(done).toEqual(['ended']);
  });
});

describe('on HTTP an error of this library', () => {
  it.each([
    ['has no response', undefined],
    ['is a command of a bot', {}],
  ])('stays as it is where the call %s', async (_what, response) => {
    await expect(intercepted(over('http', [{}, response]))).rejects.toBe(error);
    expect(() => caught(over('http', [{}, response]))).toThrow(error);
    expect(done).toEqual([]);
  });
});

describe('at a gateway an error of this library', () => {
  const acknowledge = (body: unknown): void => void done.push(['acknowledged', body]);

  it('is sent to a WebSocket that is open', async () => {
    const client = { readyState: 1, send: (text: string) => done.push(JSON.parse(text)) };
    expect(await intercepted(over('ws', [client, {}]))).toBe('nothing');
    expect(done).toEqual([{ event: 'exception', data: expect.objectContaining(told) }]);
  });

  it('is emitted to a client of socket.io, and acknowledged to one that waits for that', async () => {
    const client = { emit: (event: string, body: unknown) => done.push([event, body]) };
    await intercepted(over('ws', [client, {}, acknowledge]));
    caught(over('ws', [client, {}]));
    const body = expect.objectContaining(told);
    expect(done).toEqual([
      ['exception', body],
      ['acknowledged', body],
      ['exception', body],
    ]);
  });

  it('is not sent to a WebSocket that is closing, and acknowledged all the same', async () => {
    const client = { readyState: 2, send: () => done.push('sent') };
    await intercepted(over('ws', [client, {}, acknowledge]));
    expect(done).toEqual([['acknowledged', expect.objectContaining(told)]]);
  });
});

/** A call of a handler over this transport. */
function over(transport: string, args: readonly unknown[] = []): ExecutionContext & ArgumentsHost {
  return {
    getType: () => transport,
    getArgs: () => args,
    getClass: () => class {},
    getHandler: () => () => {},
    switchToHttp: () => ({ getResponse: () => args[1] }),
  } as unknown as ExecutionContext & ArgumentsHost;
}

/** The platform, which notes what it does for a client. */
function platform(): HttpAdapterHost {
  const httpAdapter = {
    isHeadersSent: () => hasBegun,
    setHeader: (_response: unknown, name: string, value: string) => done.push([name, value]),
    end: () => done.push('ended'),
    reply: (_response: unknown, _body: unknown, status: number) => done.push(status),
  };
  return { httpAdapter } as unknown as HttpAdapterHost;
}

/** A response of Node, which notes what is done with it. */
function nodes(): object {
  return {
    headersSent: hasBegun,
    setHeader: (name: string, value: unknown) => done.push([name, String(value)]),
    end: () => done.push('ended'),
  };
}

function caught(host: ArgumentsHost): unknown {
  return Reflect.apply(Reflect.get(filter, 'catch'), filter, [error, host]);
}

function intercepted(context: ExecutionContext): Promise<unknown> {
  const handled = interceptor.intercept(context, { handle: () => throwError(() => error) });
  return lastValueFrom(handled, { defaultValue: 'nothing' });
}

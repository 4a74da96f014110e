import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockOptionsError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { LockInspection } from '../../lib/engine/inspection/inspection.js';
import type { LockService } from '../../lib/nest/services/lock.service.js';
import type { PlatformRequest, PlatformResponse } from '../../lib/watch/board/answers.js';
import { type LockBoardOptions, boardSettings } from '../../lib/watch/board/board-options.js';
import { BoardFeed } from '../../lib/watch/board/board-feed.js';
import { boardRow } from '../../lib/watch/board/board-row.js';
import { forcedRelease } from '../../lib/watch/board/forced-release.js';
import { LockBoard } from '../../lib/watch/board/lock-board.js';
import { event, Viewer } from '../../lib/watch/board/viewer.js';
import { PageResponse } from './page-response.js';

let response: PageResponse;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'performance'] });
  response = new PageResponse();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('an open page', () => {
  const viewer = (): Viewer => new Viewer(response as unknown as ServerResponse, 'hello');

  it('is told to ask again after five minutes, when its guards decide anew', () => {
    viewer();
    jest.advanceTimersByTime(299_999);
    expect(response.text).toBe('hello');
    jest.advanceTimersByTime(1);
    expect([response.text, response.isEnded]).toEqual([`hello${event('again', {})}`, true]);
  });

  it('that does not take its last event has a second for it', () => {
    viewer().end();
    jest.advanceTimersByTime(999);
    expect(response.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
  });

  it.each(['close', 'end'] as const)('leaves no timer behind when it is over by its %s', (how) => {
    const page = viewer();
    if (how === 'end') page.end();
    response.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });
});

it('a page that receives slowly gets the latest list, whatever signs of life it has missed', async () => {
  let lists = 0;
  const feed = new BoardFeed(async () => event('locks', (lists += 1)), 4_000);
  feed.add(new Viewer(response as unknown as ServerResponse, ''));
  jest.spyOn(response, 'write').mockImplementationOnce((text) => !(response.text += text));
  await jest.advanceTimersByTimeAsync(5_000); // a list, which takes long, one more, and a sign of life
  response.emit('drain');
  feed.close();
  expect(response.text).toBe(event('locks', 1) + event('locks', 2));
});

describe('a board that fails', () => {
  it('logs why once, and again when it has failed after all was well', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    const failures = [new Error('one'), new Error('another')];
    const [one, another] = failures;
    const ours = new LockStoreError('Redis sleeps.', {});
    const looks: (Error | undefined)[] = [one, one, another, ours, undefined, another];
    const list = async (): Promise<unknown> => {
      const failure = looks.shift();
      if (failure) throw failure;
      return [];
    };
    const board = new LockBoard(
      { list } as unknown as LockService,
      boardSettings({ open: true, interval: 500 }),
    );
    board.watch({ headers: {} } as PlatformRequest, response as unknown as PlatformResponse);
    await nextTurn();
    while (looks.length > 0) await jest.advanceTimersByTimeAsync(500);
    await nextTurn();
    expect(log.mock.calls.map(([text]) => text)).toEqual(
      [one, another, another].map((e) => e!.stack),
    );
    expect(response.text.match(/^event: \w+$/gm)).toEqual([
      'event: settings',
      ...Array.from({ length: 4 }, () => 'event: trouble'),
      'event: locks',
      'event: trouble',
    ]);
    board.onModuleDestroy();
  });
});

describe('the limits of a board', () => {
  const taken = (options: LockBoardOptions) => () => boardSettings({ open: true, ...options });

  it.each<LockBoardOptions>([
    { interval: 500 },
    { interval: '10s' },
    { limit: 1 },
    { limit: 5_000 },
  ])('are kept by %j', (options) => expect(taken(options)).not.toThrow());

  it.each<LockBoardOptions>([
    { interval: 499 },
    { interval: 10_001 },
    { limit: 0 },
    { limit: 5_001 },
  ])('are not kept by %j', (options) => expect(taken(options)).toThrow(LockOptionsError));

  it.each([
    [65_536, 404, 'does not show that lock'],
    [65_537, 413, 'no key of a lock'],
  ])('of a release: a body of %i bytes is answered by %i', async (bytes, status, message) => {
    const around = JSON.stringify({ key: '' }).length;
    const body = JSON.stringify({ key: 'x'.repeat(bytes - around) });
    const halves = [body.slice(0, 30_000), body.slice(30_000)].map((text) => Buffer.from(text));
    const raw = Readable.from(halves);
    const request = { headers: { 'content-type': 'application/json' }, raw };
    const settings = boardSettings({ open: true, pattern: 'shown' });
    const asked = forcedRelease(request as unknown as PlatformRequest, {} as LockService, settings);
    await expect(asked).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    [5, 5, 0],
    [6, 5, 1],
  ])('of a row: of %i processes it names %i, and counts %i others', (count, named, others) => {
    const holders = Array.from({ length: count }, (_, pid) => ({ host: 'web', pid }));
    const seen = { key: 'k', state: 'held', holders: [...holders, holders[0]], waiters: [] };
    const row = boardRow(seen as unknown as LockInspection);
    expect([row.holders.length, row.others, row.holders[0]!.count]).toEqual([named, others, 2]);
  });

  it.each([
    [99, undefined],
    [100, '+'],
  ])('of a row: of %i holders it says whether there may be more', (count, plus) => {
    const holders = Array.from({ length: count }, () => ({ host: 'web', pid: 1 }));
    const seen = { key: 'k', state: 'held', mode: 'shared', holders, waiters: [] };
    expect(boardRow(seen as unknown as LockInspection).plus).toBe(plus);
  });
});

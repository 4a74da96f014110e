import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { Locked, type LockService } from '../../lib/index.js';
import { untilFree } from '../support/inspected.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { mostListeners } from '../support/node-response.js';
import { Answers, parts, Replaced, ROUTES, sending } from './streams-and-rows.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

beforeEach(() => sending.reset());

const sends = process.env['NEST'] !== '11';
const describeFrom12 = sends ? describe : describe.skip;
const describeBefore12 = sends ? describe.skip : describe;

describeFrom12.each(PLATFORMS)(
  'an answer of web streams and rows, on %s,',
  (platform: Platform) => {
    let url: string;
    beforeAll(async () => {
      ({ url } = await bench.server(platform, { controllers: [Answers, Replaced] }));
    });

    it.each(ROUTES.filter((route) => route.endsWith('-of-request')))(
      'gives the lock back where another answer is sent instead: %s',
      async (route) => {
        const answer = await fetch(`${url}/instead/${route}/${platform}`);
        expect(await answer.text()).toBe('instead');
        await untilFree(rival, `body:${platform}`);
        await untilFree(rival, `outer:${platform}`);
      },
    );

    it('has no more listeners on its response than Node.js takes without a warning', async () => {
      const answer = await fetch(`${url}/rows-of-request/${platform}`);
      await sending.wanted.opened;
      expect(mostListeners(sending.response)).toBeLessThanOrEqual(EventEmitter.defaultMaxListeners);
      sending.work.open();
      await answer.text();
    });

    it.each(ROUTES)('keeps the lock until it is sent: %s', async (route) => {
      const answer = await fetch(`${url}/${route}/${platform}`);
      await sending.wanted.opened;
      expect(await state(`body:${platform}`)).toBe('held');
      sending.work.open();
      const held = route === 'rows-of-request' ? 'true,true,' : '';
      expect(await answer.text()).toBe(`first,${held}last`);
      await untilFree(rival, `body:${platform}`);
      await untilFree(rival, `outer:${platform}`);
    });

    it.each(ROUTES)('gives the lock back when the client goes away: %s', async (route) => {
      const client = new AbortController();
      await fetch(`${url}/${route}/${platform}`, { signal: client.signal });
      await sending.wanted.opened;
      expect(await state(`body:${platform}`)).toBe('held');
      client.abort();
      sending.work.open();
      await untilFree(rival, `body:${platform}`);
      await untilFree(rival, `outer:${platform}`);
    });

    it.each(ROUTES)('gives the lock back where only its head is asked for: %s', async (route) => {
      await fetch(`${url}/${route}/${platform}`, { method: 'HEAD' });
      await untilFree(rival, `body:${platform}`);
      await untilFree(rival, `outer:${platform}`);
    });

    it('without a body gives the lock back at once', async () => {
      expect((await fetch(`${url}/empty/${platform}`)).status).toBe(204);
      expect(await state(`body:${platform}`)).toBe('free');
    });
  },
);

describeBefore12('an answer of web streams and rows, which Nest does not send,', () => {
  it.each([
    ['response', 200],
    ['response-of-request', 200],
    ['rows-of-request', 500],
  ])('does not keep the lock: %s', async (route, status) => {
    const { url } = await bench.server('Express', { controllers: [Answers] });
    expect((await fetch(`${url}/${route}/11`)).status).toBe(status);
    await untilFree(rival, 'body:11');
    await untilFree(rival, 'outer:11');
  });
});

describe('what a provider returns', () => {
  @Injectable()
  class Reports {
    @Locked('report')
    async read(): Promise<ReadableStream> {
      return parts();
    }

    @Locked('fetched')
    async fetched(): Promise<Response> {
      return new Response('nobody may read this');
    }
  }
  let reports: Reports;
  beforeAll(async () => {
    reports = (await bench.app({ providers: [Reports] })).get(Reports);
  });

  it('keeps the lock until its web stream has been read', async () => {
    const stream = await reports.read();
    expect(await state('report')).toBe('held');
    sending.work.open();
    expect(await new Response(stream).text()).toBe('first,last');
    await untilFree(rival, 'report');
  });

  it('does not keep it for the body of a Response, which its caller may leave alone', async () => {
    await reports.fetched();
    expect(await state('fetched')).toBe('free');
  });
});

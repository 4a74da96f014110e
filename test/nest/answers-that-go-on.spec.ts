import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Locked, type LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { untilFree } from '../support/inspected.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { mostListeners } from '../support/node-response.js';
import { Bound, Downloads, Events, ongoing, Replaced } from './downloads-and-events.js';

const bench = useBench();
let locks: LockService;
beforeAll(async () => {
  locks = await bench.rival();
});

const state = async (key: string): Promise<string> => (await locks.inspect(key)).state;

describe.each(PLATFORMS)(
  'an answer that goes on after its handler, on %s',
  (platform: Platform) => {
    let url: string;
    beforeAll(async () => {
      ({ url } = await bench.server(platform, {
        controllers: [Downloads, Bound, Replaced, Events],
      }));
    });

    it.each(['own', 'own-request', 'own-wrapped', 'bound/whole', 'bound/two'])(
      'with @Res() keeps the lock until it is sent: %s',
      async (route) => {
        ongoing.answered = new Gate();
        const answer = await fetch(`${url}/${route}/${platform}`);
        await ongoing.answered.opened;
        expect(await state(`own:${platform}`)).toBe('held');
        ongoing.response.end('last');
        expect(await answer.text()).toBe('first,last');
        await untilFree(locks, `own:${platform}`);
      },
    );

    it('of a bound handler is under the lock of the handler too', async () => {
      ongoing.answered = new Gate();
      const answer = await fetch(`${url}/bound/two/${platform}`);
      await ongoing.answered.opened;
      expect(await state(`file:${platform}`)).toBe('held');
      ongoing.response.end('last');
      expect(await answer.text()).toBe('first,last');
      await untilFree(locks, `file:${platform}`);
    });

    it.each(['own', 'own-request'])(
      'with @Res() gives the lock back when the client goes away: %s',
      async (route) => {
        ongoing.answered = new Gate();
        const client = new AbortController();
        await fetch(`${url}/${route}/${platform}`, { signal: client.signal });
        await ongoing.answered.opened;
        expect(await state(`own:${platform}`)).toBe('held');
        client.abort();
        await untilFree(locks, `own:${platform}`);
        ongoing.response.end();
      },
    );

    it.each(['own', 'own-request'])(
      'with @Res() gives the lock back when a pipelining client goes away before its turn: %s',
      async (route) => {
        const client = connect(Number(new URL(url).port), '127.0.0.1');
        for (const path of ['own/before', `${route}/${platform}`]) {
          ongoing.answered = new Gate();
          client.write(`GET /${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
          await ongoing.answered.opened;
        }
        ongoing.response.end('last');
        expect(await state(`own:${platform}`)).toBe('held');
        client.destroy();
        await untilFree(locks, `own:${platform}`);
        await untilFree(locks, 'own:before');
      },
    );

    it('with @Res() gives the lock back when the handler fails', async () => {
      const answer = await fetch(`${url}/failing/${platform}`);
      expect(answer.status).toBe(500);
      expect(await state(`failing:${platform}`)).toBe('free');
    });

    it('with @Res({ passthrough: true }) does not', async () => {
      const answer = await fetch(`${url}/passthrough/${platform}`);
      expect(await state(`passthrough:${platform}`)).toBe('free');
      expect([answer.headers.get('x-name'), await answer.text()]).toEqual([platform, platform]);
    });

    it.each(['file', 'file-request'])(
      'as a file keeps the lock until it is sent: %s',
      async (route) => {
        ongoing.body = new PassThrough();
        ongoing.body.write('first,');
        const answer = await fetch(`${url}/${route}/${platform}`);
        expect(await state(`file:${platform}`)).toBe('held');
        ongoing.body.end('last');
        expect(await answer.text()).toBe('first,last');
        await untilFree(locks, `file:${platform}`);
      },
    );

    it.each(['file', 'file-request'])(
      'as a file gives the lock back when the client goes away: %s',
      async (route) => {
        ongoing.body = new PassThrough();
        ongoing.body.write('first,');
        const client = new AbortController();
        await fetch(`${url}/${route}/${platform}`, { signal: client.signal });
        expect(await state(`file:${platform}`)).toBe('held');
        client.abort();
        await untilFree(locks, `file:${platform}`);
      },
    );

    it('as a file that its client does not read gives the lock back after maxHold', async () => {
      ongoing.body = new PassThrough();
      ongoing.body.write('first,');
      const client = new AbortController();
      const answer = await fetch(`${url}/slow/${platform}`, { signal: client.signal });
      await untilFree(locks, `slow:${platform}`);
      expect([answer.bodyUsed, ongoing.body.destroyed]).toEqual([false, false]); // the answer goes on
      client.abort();
    });

    it('as a file has no more listeners on its response under four locks than under one', async () => {
      const listeners: number[] = [];
      for (const route of ['file-request', 'file-of-four']) {
        ongoing.body = new PassThrough();
        ongoing.body.write('first,');
        const answer = await fetch(`${url}/${route}/${platform}`);
        listeners.push(mostListeners(ongoing.response));
        ongoing.body.end();
        await answer.text();
      }
      const [ofOne, ofFour] = listeners;
      expect(ofFour).toBe(ofOne);
    });

    it('as a file that is not sent gives the lock back at the end of what is', async () => {
      ongoing.body = new PassThrough();
      const answer = await fetch(`${url}/replaced/${platform}`);
      expect(await answer.text()).toBe('instead');
      await untilFree(locks, `file:${platform}`);
      expect(ongoing.body.destroyed).toBe(true);
    });

    it('as events keeps the lock until the last one', async () => {
      const answer = await fetch(`${url}/few/${platform}`);
      expect(await answer.text()).toContain(`data: ${platform}b`);
      expect(await state(`few:${platform}`)).toBe('free');
      expect(await (await fetch(`${url}/wrapped/${platform}`)).text()).toContain(
        `data: ${platform}`,
      );
    });

    it('as events keeps the lock until the client goes away', async () => {
      ongoing.unsubscribed = new Gate();
      const client = new AbortController();
      const answer = await fetch(`${url}/endless/${platform}`, { signal: client.signal });
      const reader = answer.body!.getReader();
      await reader.read();
      await reader.read();
      expect(await state(`endless:${platform}`)).toBe('held');
      client.abort();
      await ongoing.unsubscribed.opened;
      await untilFree(locks, `endless:${platform}`);
    });
  },
);

describe('a stream that a provider returns', () => {
  @Injectable()
  class Reports {
    @Locked('report')
    async read(lines: string[]): Promise<Readable> {
      return Readable.from(lines);
    }

    @Locked('report')
    async rows(): Promise<Generator<string>> {
      return (function* () {
        yield 'row';
      })();
    }

    @Locked('report')
    async describe(getStream: () => unknown): Promise<object> {
      return { getStream };
    }
  }

  it('keeps the lock until it has been read', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    const stream = await reports.read(['a', 'b']);
    expect(await state('report')).toBe('held');
    expect(await text(stream)).toBe('ab');
    await untilFree(locks, 'report');
  });

  it('keeps the lock until it is destroyed', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    const stream = await reports.read(['a', 'b']);
    expect(await state('report')).toBe('held');
    stream.destroy();
    await untilFree(locks, 'report');
  });

  it('is refused where it is a generator, none of whose code has run', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    await expect(reports.rows()).rejects.toThrow('returned a generator, which would run unlocked');
    expect(await state('report')).toBe('free');
  });

  it('keeps nothing, and opens nothing, where only the name of a method speaks of a stream', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    let opened = 0;
    await reports.describe(() => {
      opened += 1;
      return new Readable({ read() {} });
    });
    expect([opened, await state('report')]).toEqual([0, 'free']);
  });
});

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { LockService } from '../../lib/index.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { AllOpen, probe, Left, MoreOpen, Open, Orders } from './requests-left-early.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

beforeEach(() => probe.reset());

describe.each(PLATFORMS)(
  'a request under @LockedRequest that is left, on %s,',
  (platform: Platform) => {
    let url: string;
    beforeAll(async () => {
      ({ url } = await bench.server(platform, {
        controllers: [Left, Open, AllOpen, MoreOpen, Orders],
      }));
    });

    const answerTo = async (path: string): Promise<string> =>
      (await fetch(`${url}/${path}`)).text();

    it('leaves the queue, and its handler never starts', async () => {
      const lease = await rival.acquire(`one:${platform}`);
      const answer = answerTo(`one/${platform}`);
      await untilWaiting(rival, `one:${platform}`);
      probe.leave.next();
      expect(await answer).toBe('left');
      await untilWaiting(rival, `one:${platform}`, 0);
      await lease.release();
      expect(await state(`one:${platform}`)).toBe('free');
      expect(probe.runs).toBe(0);
    });

    it('leaves the queue of one lock, and gives the other one back', async () => {
      const lease = await rival.acquire(`inner:${platform}`);
      const answer = answerTo(`two/${platform}`);
      await untilWaiting(rival, `inner:${platform}`);
      probe.leave.next();
      expect(await answer).toBe('left');
      await untilWaiting(rival, `inner:${platform}`, 0);
      await untilFree(rival, `outer:${platform}`);
      await lease.release();
      expect(await state(`inner:${platform}`)).toBe('free');
      expect(probe.runs).toBe(0);
    });

    it.each([
      ['one', ['one']],
      ['two', ['outer', 'inner']],
    ])('keeps its locks until its async handler has ended: %s', async (route, names) => {
      const answer = answerTo(`${route}/${platform}`);
      await probe.started.opened;
      probe.leave.next();
      expect(await answer).toBe('left');
      for (const name of names) expect(await state(`${name}:${platform}`)).toBe('held');
      probe.work.open();
      for (const name of names) await untilFree(rival, `${name}:${platform}`);
    });

    it.each(['an interceptor leaves it', 'its client goes away'])(
      'ends also where an interceptor inside calls its handler again and again: %s',
      async (how) => {
        const client = new AbortController();
        const answer = fetch(`${url}/retried/${platform}`, { signal: client.signal });
        answer.catch(() => {});
        await probe.started.opened;
        if (how === 'its client goes away') {
          client.abort();
          await probe.gone.opened;
        } else {
          probe.leave.next();
          await answer;
        }
        probe.work.open();
        await untilFree(rival, `one:${platform}`);
      },
    );

    it('keeps no stream that its handler returns afterwards', async () => {
      const answer = answerTo(`file/${platform}`);
      await probe.started.opened;
      probe.leave.next();
      expect(await answer).toBe('left');
      probe.work.open();
      await until('the stream is destroyed', () => probe.file.destroyed);
      await untilFree(rival, `file:${platform}`);
    });

    it('waits for a pipe before its async handler, and the handler never starts', async () => {
      const answer = answerTo(`piped/${platform}`);
      await probe.started.opened;
      probe.leave.next();
      expect(await answer).toBe('left');
      expect(await state(`piped:${platform}`)).toBe('held');
      probe.work.open();
      await untilFree(rival, `piped:${platform}`);
      expect(probe.runs).toBe(0);
    });

    it('leaves a pipe before a handler of an Observable, which never starts', async () => {
      const answer = answerTo(`piped-stream/${platform}`);
      await probe.started.opened;
      probe.leave.next();
      expect(await answer).toBe('left');
      await untilFree(rival, `piped:${platform}`);
      probe.work.open();
      await answerTo(`context/${platform}`);
      expect(probe.runs).toBe(0);
    });

    it.each([
      ['piped', 0],
      ['piped-stream', 0],
      ['piped-stays', 1],
    ])(
      'whose client goes away during a pipe: %s starts its handler %i times',
      async (route, runs) => {
        const client = new AbortController();
        const answer = fetch(`${url}/${route}/${platform}`, { signal: client.signal });
        answer.catch(() => {});
        await probe.started.opened;
        client.abort();
        await probe.gone.opened;
        probe.work.open();
        await untilFree(rival, `piped:${platform}`);
        expect(probe.runs).toBe(runs);
      },
    );

    it('keeps its lock until its handler has ended also where an interceptor inside answers first', async () => {
      const answer = answerTo(`early/${platform}`);
      await probe.started.opened;
      probe.early.next();
      await answerTo(`context/${platform}`);
      expect(await state(`one:${platform}`)).toBe('held');
      probe.work.open();
      expect(await answer).toBe('early');
      await untilFree(rival, `one:${platform}`);
    });

    it('never starts its handler after an interceptor inside has answered', async () => {
      const answer = answerTo(`early-piped/${platform}`);
      await probe.started.opened;
      probe.early.next();
      expect(await answer).toBe('early');
      await untilFree(rival, `piped:${platform}`);
      probe.work.open();
      await answerTo(`context/${platform}`);
      expect(probe.runs).toBe(0);
    });

    it.each(['quiet', 'undeclared', 'twice'])(
      'leaves the Observable that its handler has returned: %s',
      async (route) => {
        const answer = answerTo(`${route}/${platform}`);
        await probe.started.opened;
        probe.leave.next();
        expect(await answer).toBe('left');
        await probe.unsubscribed.opened;
        await untilFree(rival, `quiet:${platform}`);
        await untilFree(rival, `inner:${platform}`);
      },
    );

    it.each(['endless', 'events-later', 'all', 'inherited', 'more/added'])(
      'leaves the Observable that its handler has returned when its client goes away: %s',
      async (route) => {
        const client = new AbortController();
        const answer = fetch(`${url}/${route}/${platform}`, { signal: client.signal });
        answer.catch(() => {});
        await probe.started.opened;
        client.abort();
        await probe.unsubscribed.opened;
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
        await probe.started.opened;
        client.abort();
        await probe.gone.opened;
        expect(await state(`set-up:${platform}`)).toBe('held');
        probe.work.open();
        await untilFree(rival, `set-up:${platform}`);
        await answer;
      },
    );

    it.each(['create', 'copy'])(
      'goes on in a handler of a subclass, which calls another when the client is gone: %s',
      async (route) => {
        const client = new AbortController();
        const answer = fetch(`${url}/orders/${route}/${platform}`, { signal: client.signal });
        answer.catch(() => {});
        await probe.started.opened;
        client.abort();
        await probe.gone.opened;
        probe.work.open();
        await untilFree(rival, `items:${platform}`);
        expect(probe.runs).toBe(2);
      },
    );

    it.each([
      ['create', 2],
      ['copy', 2],
      ['sum', 1],
    ])(
      'keeps its lock until a handler of a subclass, which calls another, has ended: %s',
      async (route, runs) => {
        const answer = answerTo(`orders/${route}/${platform}`);
        await probe.started.opened;
        probe.leave.next();
        expect(await answer).toBe('left');
        await answerTo(`context/${platform}`);
        expect(await state(`items:${platform}`)).toBe('held');
        probe.work.open();
        await untilFree(rival, `items:${platform}`);
        expect(probe.runs).toBe(runs);
      },
    );

    it('never starts an added handler of a subclass after its lock was given back', async () => {
      const answer = answerTo(`orders/piped/${platform}`);
      await probe.started.opened;
      probe.leave.next();
      expect(await answer).toBe('left');
      await untilFree(rival, `items:${platform}`);
      probe.work.open();
      await answerTo(`context/${platform}`);
      expect(probe.runs).toBe(0);
    });

    it('has had the asynchronous context of the interceptors around it', async () => {
      expect(await answerTo(`context/${platform}`)).toBe('around');
      expect(await answerTo(`events/${platform}`)).toContain('data: around');
    });
  },
);

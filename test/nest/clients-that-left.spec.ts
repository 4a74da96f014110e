import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { HttpException } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Locked, LockedRequest, LockOptionsError, type LockService } from '../../lib/index.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { course, Routes } from './patient-routes.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

beforeEach(() => course.reset());

const LEAVING = ['request', 'inner', 'method', 'below', 'several', 'observable'];

describe.each(PLATFORMS)('a request whose client is gone, on %s,', (platform) => {
  const key = `key:${platform}`;
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers: [Routes] }));
  });

  /** Asks, and returns how its client goes away. */
  const ask = (route: string): (() => void) => {
    const client = new AbortController();
    fetch(`${url}/${route}/${platform}`, { signal: client.signal }).catch(() => {});
    return () => client.abort();
  };

  it.each(LEAVING)('leaves the queue, and its handler never starts: %s', async (route) => {
    await rival.withLock(key, async () => {
      const goAway = ask(route);
      await untilWaiting(rival, key);
      goAway();
      await untilWaiting(rival, key, 0);
      if (route === 'observable') return; // Nest leaves it by itself, and tells nobody
      await until('the interceptors have heard', () => course.failures.length === 1);
      expect((course.failures[0] as HttpException).getStatus()).toBe(499);
    });
    await untilFree(rival, key);
    await untilFree(rival, `outer:${platform}`);
    await untilFree(rival, `other:${platform}`);
    expect(course.runs).toBe(0);
  });

  it.each(LEAVING.slice(0, -1))('keeps its lock while its handler runs: %s', async (route) => {
    const goAway = ask(route);
    await course.started.opened;
    goAway();
    await course.gone.opened;
    expect(await rival.tryAcquire(key)).toBeNull();
    course.work.open();
    await untilFree(rival, key);
    expect(course.failures).toEqual([]);
  });

  it.each(['stays', 'method-stays'])('waits on where it is told to: %s', async (route) => {
    await rival.withLock(key, async () => {
      const goAway = ask(route);
      await untilWaiting(rival, key);
      goAway();
      await course.gone.opened;
    });
    await course.started.opened;
    course.work.open();
    await untilFree(rival, key);
    expect(course.runs).toBe(1);
  });

  it('answers others as ever', async () => {
    course.work.open();
    for (const route of [...LEAVING, 'stays', 'method-stays']) {
      expect(await (await fetch(`${url}/${route}/${platform}`)).text()).toBe('done');
    }
  });
});

describe('leaveWithClient', () => {
  it('has a client in a request that is injected into Fastify', async () => {
    const module = await bench.builder({ controllers: [Routes] }).compile();
    const app = await bench.use(
      module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false }),
    );
    course.work.open();
    for (const route of LEAVING) {
      expect((await app.inject(`/${route}/injected`)).body).toBe('done');
    }
  });

  it('is refused at start-up on a method of which no request waits', async () => {
    class Service {
      @Locked('a', { leaveWithClient: true })
      async work(): Promise<void> {}
    }
    await expect(bench.app({ providers: [Service] })).rejects.toThrow(
      new LockOptionsError(
        '@Locked on Service.work has "leaveWithClient", but no HTTP request waits there: it stands on routes.',
      ),
    );
  });

  it.each([
    ['@Locked', () => Locked('a', { leaveWithClient: 'yes' as never })],
    ['@LockedRequest', () => LockedRequest('a', { leaveWithClient: 1 as never })],
  ])('is true or false: %s', (_, decorator) => {
    const apply = (): void => {
      class Wrong {
        async work(): Promise<void> {}
      }
      const descriptor = Object.getOwnPropertyDescriptor(Wrong.prototype, 'work')!;
      (decorator() as MethodDecorator)(Wrong.prototype, 'work', descriptor);
    };
    expect(apply).toThrow('Option "leaveWithClient" takes true or false.');
  });
});

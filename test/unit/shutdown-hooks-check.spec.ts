import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ShutdownHooksCheck } from '../../lib/nest/services/shutdown-hooks-check.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

let clock: ManualClock;
let warned: number;
beforeEach(() => {
  clock = new ManualClock();
  warned = 0;
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => void (warned += 1));
});
afterEach(() => {
  jest.restoreAllMocks();
});

function checkOf(host: HttpAdapterHost, listener?: string, NODE_ENV?: string): ShutdownHooksCheck {
  const listenerCount = (name: string | symbol): number => (name === listener ? 1 : 0);
  return new ShutdownHooksCheck(host, 30_000, clock, {
    listenerCount: listenerCount as NodeJS.Process['listenerCount'],
    env: { NODE_ENV },
  });
}

describe('an application without shutdown hooks', () => {
  it('is told once, when it has listened for 5 s, however many modules it has', async () => {
    const host = new HttpAdapterHost();
    for (const check of [checkOf(host), checkOf(host)]) check.onApplicationBootstrap();
    await clock.advance(60_000);
    expect(warned).toBe(0); // it listens to no port yet
    host.listening = true;
    await clock.advance(4_999);
    expect(warned).toBe(0);
    await clock.advance(1);
    expect(warned).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGUSR2', 'message'])(
    'is not told where something hears %s',
    async (listener) => {
      const host = new HttpAdapterHost();
      checkOf(host, listener).onApplicationBootstrap();
      host.listening = true;
      await clock.advance(60_000);
      expect(warned).toBe(0);
    },
  );

  it('is not told in a test, nor when it was closed before', async () => {
    const hosts = [new HttpAdapterHost(), new HttpAdapterHost()] as const;
    const closed = checkOf(hosts[1]);
    for (const check of [checkOf(hosts[0], undefined, 'test'), closed]) {
      check.onApplicationBootstrap();
    }
    for (const host of hosts) host.listening = true;
    closed.onModuleDestroy();
    await clock.advance(60_000);
    expect(warned).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

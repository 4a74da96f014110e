import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import type { DialectLock } from '../../lib/engine/locks/dialects/dialect-lock.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { NATIVE } from '../../lib/engine/options/index.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { BusyServer } from './busy-server.js';

const request: LockRequest = {
  key: 'k',
  holder: 'a.1.b/c',
  ttl: 1_000,
  tokenBlock: 0,
  format: NATIVE,
};

let server: BusyServer;
let lock: DialectLock;

beforeEach(() => {
  server = new BusyServer();
  lock = server.lockOf('redlock');
});

describe('a lock in the format of another', () => {
  it('has its rights tried before the first acquisition, and once', async () => {
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
    expect(server.sent).toBe(2);
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
    expect(server.sent).toBe(3);
  });

  it.each([
    [1, 100],
    [0, undefined],
  ])('that says %i behind its token is renewed after %p ms', async (more, renewIn) => {
    server.replies = [[], ['held', 1_000, 1, -1, more]]; // the rights are tried first
    expect(await lock.acquire(request)).toMatchObject({ kind: 'held', renewIn });
  });

  it('is taken no later where the ask is sent on to another node', async () => {
    server.nodes = 2;
    await server.clock.advance(10);
    await lock.acquire(request);
    expect(server.dated).toEqual([10, 10]);
  });

  it.each([0, 1, 2])(
    'is not sent what comes after step %i of a take-over once the caller has given up',
    async (step) => {
      const past = ['past', 0, 1, -1, '1700000000'];
      server.replies = [[], ['busy', -1, 1, -1], past, ['held', 1_000, 1, -1, 1]]; // the rights are tried first
      const wanted = (): boolean => server.sent <= step;
      const asked = server.lockOf({ name: 'timestamp', protocol: 'commands' }).acquire({
        ...request,
        wanted,
      });
      await expect(asked).rejects.toMatchObject({ outcome: 'unsent' });
      expect(server.sent).toBe(step + 1);
    },
  );

  it('whose rights are lacking was not taken, and is not tried again by itself', async () => {
    server.errors = [
      new LockStoreError('no right', { key: 'k', outcome: 'refused', retryable: false }),
    ];
    await expect(lock.acquire(request)).rejects.toMatchObject({
      outcome: 'unsent',
      retryable: false,
    });
    expect(server.sent).toBe(1);
  });

  it.each<[string, Error]>([
    ['is elsewhere', storeFailure(new Error('MOVED 1 b:2'), 'k')],
    ['is loading', new LockStoreError('later', { key: 'k', outcome: 'refused', retryable: true })],
    ['fails', new TypeError('a fault')],
  ])('that %s while its rights are tried says so, and has them tried again', async (_, error) => {
    server.errors = [error];
    await expect(lock.acquire(request)).rejects.toBe(error);
    await lock.acquire(request);
    expect(server.sent).toBe(3);
  });
});

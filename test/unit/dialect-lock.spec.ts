import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { DialectLock } from '../../lib/engine/locks/dialects/dialect-lock.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { lockFormat, type LockDialect, NATIVE } from '../../lib/engine/options/index.js';
import type { LockServer } from '../../lib/engine/redis/index.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

/** What the server answers to the next scripts; busy where this is empty. */
let errors: Error[];
/** Until when each ask may take effect: the moment that it was dated. */
let dated: number[];
/** How many scripts were sent. */
let sent = 0;
let clock: ManualClock;
/** What the next scripts answer. */
let replies: unknown[][];
/** To how many nodes an ask is sent, one after the other. */
let nodes: number;
let lock: DialectLock;
let speaking: (dialect: LockDialect) => DialectLock;
const request: LockRequest = {
  key: 'k',
  holder: 'a.1.b/c',
  ttl: 1_000,
  tokenBlock: 0,
  format: NATIVE,
};

beforeEach(() => {
  [errors, dated, sent, replies, nodes] = [[], [], 0, [], 1];
  const node = {
    clock: { learn() {} },
    notAfter: (at: number) => dated.push(at),
    async run(run: ScriptRun<unknown>) {
      sent += 1;
      const error = errors.shift();
      if (error) throw error;
      return run.read(replies.shift() ?? ['busy', 500, 1, -1], 0);
    },
  };
  clock = new ManualClock();
  const server = {
    time: clock,
    slotOf: () => 0,
    fenceTagOf: () => '',
    async at(_lock: string, _key: string, step: (at: typeof node) => unknown) {
      for (let sentOn = 1; sentOn < nodes; sentOn += 1) {
        await step(node);
        await clock.advance(50);
      }
      return step(node);
    },
  };
  speaking = (dialect) => {
    const settings = lockFormat(dialect);
    const around = {
      clientPrefix: '',
      inboxPrefix: 'inbox:',
      waitersPerKey: 9,
      freed() {},
      message() {},
    };
    return new DialectLock(server as unknown as LockServer, settings, around);
  };
  lock = speaking('redlock');
});

describe('a lock in the format of another', () => {
  it('has its rights tried before the first acquisition, and once', async () => {
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
    expect(sent).toBe(2);
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
    expect(sent).toBe(3);
  });

  it('is taken no later where the ask is sent on to another node', async () => {
    nodes = 2;
    await clock.advance(10);
    await lock.acquire(request);
    expect(dated).toEqual([10, 10]);
  });

  it.each([0, 1, 2])(
    'is not sent what comes after step %i of a take-over once the caller has given up',
    async (step) => {
      const past = ['past', 0, 1, -1, '1700000000'];
      replies = [[], ['busy', -1, 1, -1], past, ['held', 1_000, 1, -1, 1]]; // the rights are tried first
      const wanted = (): boolean => sent <= step;
      const asked = speaking({ name: 'timestamp', protocol: 'commands' }).acquire({
        ...request,
        wanted,
      });
      await expect(asked).rejects.toMatchObject({ outcome: 'unsent' });
      expect(sent).toBe(step + 1);
    },
  );

  it('whose rights are lacking was not taken, and is not tried again by itself', async () => {
    errors = [new LockStoreError('no right', { key: 'k', outcome: 'refused', retryable: false })];
    await expect(lock.acquire(request)).rejects.toMatchObject({
      outcome: 'unsent',
      retryable: false,
    });
    expect(sent).toBe(1);
  });

  it.each<[string, Error]>([
    ['is elsewhere', storeFailure(new Error('MOVED 1 b:2'), 'k')],
    ['is loading', new LockStoreError('later', { key: 'k', outcome: 'refused', retryable: true })],
    ['fails', new TypeError('a fault')],
  ])('that %s while its rights are tried says so, and has them tried again', async (_, error) => {
    errors = [error];
    await expect(lock.acquire(request)).rejects.toBe(error);
    await lock.acquire(request);
    expect(sent).toBe(3);
  });
});

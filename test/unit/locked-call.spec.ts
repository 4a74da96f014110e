import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { getEventListeners } from 'node:events';
import { lastValueFrom, Observable, of } from 'rxjs';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import type { LockClient } from '../../lib/engine/client/lock-client.js';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import { Publisher } from '../../lib/engine/events/index.js';
import { CALL_DEFAULTS, type LockedPolicy, systemClock } from '../../lib/engine/options/index.js';
import type { CallPlan } from '../../lib/nest/services/call-plan.js';
import { LockedCall } from '../../lib/nest/services/locked-call.js';

function planOf(client: unknown, policy: LockedPolicy = {}): CallPlan {
  return { client: client as LockClient, maxKeyBytes: 1_024, call: CALL_DEFAULTS, policy };
}

it('a lease that comes when its subscriber has left is given back unused, and nothing is subscribed to', async () => {
  let grant!: (lease: BaseLease) => void;
  let signal: AbortSignal | undefined;
  const client = {
    acquire: (_key: unknown, _call: unknown, given: AbortSignal) => {
      signal = given;
      return new Promise<BaseLease>((resolve) => (grant = resolve));
    },
  };
  const done: string[] = [];
  const run = (): Observable<unknown> => new Observable(() => void done.push('subscribed'));
  const call = new LockedCall(planOf(client), 'k', [], run);
  call.observable().subscribe().unsubscribe();
  expect(signal!.aborted).toBe(true);
  const release = async (unused?: 'unused'): Promise<boolean> => {
    done.push(`given back ${unused}`);
    return true;
  };
  grant({ release } as unknown as BaseLease);
  await new Promise(setImmediate);
  expect(done).toEqual(['given back unused']);
});

it('a lease that comes when its reader has left is given back unused, and no row is asked for', async () => {
  const left = new AbortController();
  const done: string[] = [];
  const lease = { release: async (unused: unknown) => done.push(`given back ${String(unused)}`) };
  const acquire = async (): Promise<unknown> => {
    left.abort();
    return lease;
  };
  const rows = async function* (): AsyncGenerator {
    yield done.push('asked');
  };
  const call = new LockedCall(planOf({ acquire }), 'k', [], rows);
  expect(await call.iterable(left.signal).next()).toEqual({ done: true, value: undefined });
  expect(done).toEqual(['given back unused']);
});

it.each<[how: string, policy: LockedPolicy, done: string[]]>([
  ['runs not, and fails by its loss', {}, ['given back', 'failed: lost']],
  [
    'runs all the same where onLost is "ignore"',
    { onLost: 'ignore' },
    ['subscribed', 'over', 'given back'],
  ],
])('an Observable whose lease was lost before it began %s', async (_how, policy, expected) => {
  const done: string[] = [];
  const release = async (): Promise<boolean> => done.push('given back') > 0;
  const lease = {
    signal: AbortSignal.abort(new Error('lost')),
    openSection: () => ({ run: (work: () => unknown) => work(), close: () => {} }),
    release,
    finish: release,
  };
  const run = (): Observable<unknown> =>
    new Observable((subscriber) => {
      done.push('subscribed', 'over');
      subscriber.complete();
    });
  const call = new LockedCall(planOf({ acquire: async () => lease }, policy), 'k', [], run);
  call.observable().subscribe({ error: (error: Error) => done.push(`failed: ${error.message}`) });
  await new Promise(setImmediate);
  expect(done).toEqual(expected);
});

it('a call under several locks names them all', () => {
  const call = new LockedCall(planOf({}), ['a', 'b'], [], () => {});
  expect(call.key).toBe('a, b');
});

it.each<[string, LockedPolicy['onBusy'], unknown]>([
  ['skipped', 'skip', undefined],
  ['answered by onBusy', ({ key }) => `${key} is busy`, 'k is busy'],
])('a call that is %s where the lock is busy is logged as that', async (said, onBusy, answer) => {
  const debug = jest.spyOn(Logger.prototype, 'debug').mockImplementation(() => {});
  const busy = new LockNotAcquiredError('k', 0, 0);
  const publisher = new Publisher({ topology: 'memory', module: undefined }, systemClock);
  const client = { acquire: () => Promise.reject(busy), publisher };
  const call = new LockedCall(planOf(client, { onBusy }), 'k', [], async () => 'run');
  expect(await call.promise()).toBe(answer);
  expect(debug.mock.calls).toEqual([[`Lock "k" is busy: the call is ${said}.`]]);
  debug.mockRestore();
});

it('streams that enter one lease again and again leave no listener at its signal', async () => {
  const { signal } = new AbortController();
  const section = { run: (work: () => unknown) => work(), close: () => {} };
  const lease = {
    signal,
    openSection: () => section,
    finish: async () => {},
    release: async () => true,
  };
  const call = new LockedCall(planOf({ acquire: async () => lease }), 'k', [], () => of(1));
  for (let nth = 0; nth < 20; nth += 1) expect(await lastValueFrom(call.observable())).toBe(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

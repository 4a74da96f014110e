import { beforeEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { Opening } from '../../lib/engine/client/opening.js';
import { LockShutdownError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { LockStore, PushListener } from '../../lib/engine/locks/lock-store.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

const TIMEOUT = 2_000;

let clock: ManualClock;
let stopping: AbortController;
let caller: AbortController;
/** The attempts to open the store, each until a test says what comes of it. */
let attempts: { opened(): void; failed(error: Error): void }[];
let opening: Opening;

beforeEach(() => {
  clock = new ManualClock();
  [stopping, caller] = [new AbortController(), new AbortController()];
  attempts = [];
  const store = {
    open: () => new Promise<void>((opened, failed) => void attempts.push({ opened, failed })),
    describe: () => ({ found: 'no Redis at localhost:1.', warnings: [] }),
  } as unknown as LockStore;
  opening = new Opening(store, {} as PushListener, TIMEOUT, clock, stopping.signal);
});

describe('a call that comes before the store is open', () => {
  it('waits for it with others, and the store is opened once', async () => {
    const calls = ['a', 'b', 'c'].map((key) => opening.within(key, caller.signal));
    expect(attempts).toHaveLength(1);
    attempts[0]!.opened();
    await Promise.all([...calls, opening.opened, opening.open()]);
    expect(opening.done).toBe(true);
    expect(attempts).toHaveLength(1);
    await clock.advance(0);
    expect(left()).toEqual([0, 0, 0]);
  });

  it('fails with it, and the next call opens it again', async () => {
    const failure = new LockStoreError('refused', { outcome: 'unsent' });
    const call = opening.within('a', caller.signal);
    attempts[0]!.failed(failure);
    await expect(call).rejects.toBe(failure);
    const next = opening.within('a', undefined);
    expect(attempts).toHaveLength(2);
    attempts[1]!.opened();
    await next;
    await clock.advance(0);
    expect(left()).toEqual([0, 0, 0]);
  });

  it.each<[string, () => unknown, unknown]>([
    [
      'waits as long as for a command, and says what was found',
      () => clock.advance(TIMEOUT),
      expect.objectContaining({
        message:
          'Lock "a" was not acquired: Redis could not be used within 2000 ms (no Redis at localhost:1).',
        outcome: 'unsent',
      }),
    ],
    ['ends when its caller gives up', () => caller.abort('enough'), 'enough'],
    ['ends when the application shuts down', () => stopping.abort(), new LockShutdownError('a')],
  ])('%s, and leaves nothing behind though the store never opens', async (_how, end, error) => {
    const call = opening.within('a', caller.signal);
    await clock.advance(TIMEOUT - 1);
    expect(left()).toEqual([1, 1, 1]);
    await Promise.all([expect(call).rejects.toEqual(error), end()]);
    expect(left()).toEqual([0, 0, 0]);
  });
});

describe('whoever asks how a server is', () => {
  it('waits for the store as long as it said, and has the rest', async () => {
    const rest = opening.rest(500);
    await clock.advance(200);
    attempts[0]!.opened();
    expect(await rest).toBe(300);
    expect(await opening.rest(500)).toBe(500);
  });

  it('has nothing left where it does not open', async () => {
    const rest = opening.rest(500);
    await clock.advance(500);
    expect(await rest).toBe(0);
    expect(left()).toEqual([0, 0, 0]);
  });
});

it('who opens it after the end is refused, and nothing is opened', async () => {
  opening.close();
  await expect(opening.open()).rejects.toThrow(LockShutdownError);
  await expect(opening.within('a', caller.signal)).rejects.toThrow(LockShutdownError);
  expect(attempts).toEqual([]);
});

/** What is left behind by calls: timers, and listeners of the caller's signal and of the shutdown. */
function left(): number[] {
  const listeners = [caller, stopping].map(
    ({ signal }) => getEventListeners(signal, 'abort').length,
  );
  return [clock.pending, ...listeners];
}

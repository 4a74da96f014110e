import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError, type LockService } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { Gate } from '../support/gate.js';

const HINT = '"lockOrder"';
const ITSELF = 'it may have waited for itself';

async function failure(waiting: Promise<unknown>): Promise<LockNotAcquiredError> {
  const error = await waiting.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LockNotAcquiredError);
  return error as LockNotAcquiredError;
}

/** Takes `outer`, lets the other do the same, and wants `inner` then. */
async function crossing(
  locks: LockService,
  [outer, inner]: [string, string | string[]],
  [mine, other]: [Gate, Gate],
  wait: number,
): Promise<void> {
  await locks.withLock(outer, async () => {
    mine.open();
    await other.opened;
    await locks.withLock(inner, { wait }, () => undefined);
  });
}

describe('who waited in vain under locks of its own is told which they are', () => {
  it('where two callers wait for each other', async () => {
    const locks = memoryLockService({ lockOrder: 'ignore' });
    const [one, two] = [new Gate(), new Gate()];
    const first = failure(crossing(locks, ['a', 'b'], [one, two], 50));
    await crossing(locks, ['b', 'a'], [two, one], 60_000);
    const { message, key, stack } = await first;
    expect(key).toBe('b');
    expect(message).toContain('Lock "b" was not acquired within 50 ms by code that holds "a"');
    expect(message).toContain(HINT);
    expect(stack).toContain('crossing');
  });

  it('also where it wanted several, or held several', async () => {
    const locks = memoryLockService({ lockOrder: 'ignore' });
    const held = await locks.acquire('c');
    const work = () => locks.withLock(['b', 'c'], { wait: 50 }, () => undefined);
    const { message, key } = await failure(locks.withLock(['a', 'z'], work));
    expect(key).toBe('c');
    expect(message).toMatch(/by code that holds ("a", "z"|"z", "a"): /);
    expect(message).toContain(HINT);
    await held.release();
    expect((await locks.list()).length).toBe(0);
  });

  it('where it waited for itself', async () => {
    const locks = memoryLockService();
    const again = () => locks.withLock('a', { wait: 50, reentrant: false }, () => undefined);
    const { message } = await failure(locks.withLock('a', again));
    expect(message).toContain('by code that holds "a"');
    expect(message).toContain(ITSELF);
    const seats = locks.semaphore('seats', { permits: 1 });
    const permit = () => seats.withPermit({ wait: 50 }, () => undefined);
    const nested = await failure(seats.withPermit(permit));
    expect(nested.message).toContain(ITSELF);
    expect(nested.permits).toBe(1);
  });

  it('where it waited for a sibling, which waits for it', async () => {
    const locks = memoryLockService();
    const entered = new Gate();
    const { message } = await failure(
      locks.withLock('a', async () => {
        const second = entered.opened.then(() =>
          locks.withLock('a', { wait: 50 }, () => undefined),
        );
        await locks.withLock('a', () => (entered.open(), second));
      }),
    );
    expect(message).toContain(ITSELF);
  });
});

it('who holds nothing, asks once, or has given its lock back is told as ever', async () => {
  const locks = memoryLockService();
  const held = await locks.acquire('b');
  const want = (wait: number) => locks.withLock('b', { wait }, () => undefined);
  expect((await failure(want(50))).message).toContain('within 50 ms: others hold it. Wait longer');
  let later: Promise<LockNotAcquiredError> | undefined;
  await locks.withLock('a', async () => {
    expect((await failure(want(0))).message).toBe(
      'Lock "b" is held by another. Set "wait" to queue for it.',
    );
    later = failure(want(50));
  });
  expect((await later!).message).toContain('within 50 ms: others hold it. Wait longer');
  await held.release();
});

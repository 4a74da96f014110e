import { beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockStoreError, ReplicasNotReachedError } from '../../lib/engine/errors/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { KeyList, LuaScript, type RedisConnection } from '../../lib/engine/redis/index.js';
import { ReplicaAcks } from '../../lib/engine/redis/replica-acks.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { replyError } from '../support/fake-redis.js';

const script = new LuaScript('return 1');

/** One command on the way: a run by its key, or a WAIT. */
interface Sent {
  readonly what: string;
  readonly run: ScriptRun<unknown> | undefined;
  readonly answer: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

let sent: Sent[];
let acks: ReplicaAcks;

beforeEach(() => {
  sent = [];
  const send = (what: string, run?: ScriptRun<unknown>): Promise<unknown> =>
    new Promise((answer, fail) => sent.push({ what, run, answer, fail }));
  const connection = {
    clock: systemClock,
    run: (run: ScriptRun<unknown>) => send(run.key!, run),
    send: (name: string, operands: unknown[]) => send([name, ...operands].join(' ')),
  };
  acks = new ReplicaAcks(connection as unknown as RedisConnection, { acks: 2, timeout: 100 });
});

describe('a run that replicas confirm', () => {
  it('leaves with those of its tick, and one WAIT behind them', async () => {
    const all = [run('a'), run('b')];
    const [a, b, wait, ...none] = await taken();
    expect([a!.what, b!.what, wait!.what]).toEqual(['a', 'b', 'wait 2 100']);
    expect(none).toEqual([]);
    a!.answer('A');
    b!.answer('B');
    await nextTurn();
    expect(all.map(({ now }) => now)).toEqual([undefined, undefined]); // not before the replicas have it
    wait!.answer(2);
    await nextTurn();
    expect(all.map(({ now }) => now)).toEqual(['A', 'B']);
  });

  it('waits while a WAIT is under way, and leaves when that is answered', async () => {
    run('a');
    const [a, wait] = await taken();
    const [b, c] = [run('b'), run('c')];
    a!.answer('A');
    expect(await taken()).toEqual([]);
    wait!.answer(2);
    const next = await taken();
    expect(next.map(({ what }) => what)).toEqual(['b', 'c', 'wait 2 100']);
    next.forEach((each, at) => each.answer(['B', 'C', 3][at]));
    await nextTurn();
    expect([b.now, c.now]).toEqual(['B', 'C']);
  });

  it('leaves at once when nothing is under way any more', async () => {
    for (const key of ['a', 'b', 'c']) {
      const one = run(key);
      const [step, wait] = await taken();
      expect(step!.what).toBe(key);
      step!.answer(key);
      wait!.answer(2);
      await nextTurn();
      expect(one.now).toBe(key);
    }
  });

  it('fails by itself, and leaves the others of its tick', async () => {
    const [a, b] = [run('a'), run('b')];
    const [first, second, wait] = await taken();
    first!.fail(new RangeError('a failed'));
    second!.answer('B');
    wait!.answer(2);
    await nextTurn();
    expect([a.now, b.now]).toEqual([expect.any(RangeError), 'B']);
  });

  it('is not sent when its caller gave up before its turn', async () => {
    const gone = run('a', { wanted: () => false });
    const kept = run('b', { wanted: () => true });
    const [b, wait, ...none] = await taken();
    expect([b!.what, wait!.what, none]).toEqual(['b', 'wait 2 100', []]);
    b!.answer('B');
    wait!.answer(2);
    await nextTurn();
    expect(gone.now).toBeInstanceOf(LockStoreError);
    expect(gone.now).toMatchObject({ outcome: 'unsent', key: 'a' });
    expect(kept.now).toBe('B');
  });

  it('that leaves once more, behind the WAIT, has another WAIT behind it, and that one counts', async () => {
    const a = run('a');
    const [step, wait] = await taken();
    step!.run!.sentAgain!();
    wait!.answer(2);
    step!.answer('A');
    const [again, ...none] = await taken();
    expect([again!.what, none, a.now]).toEqual(['wait 2 100', [], undefined]);
    again!.answer(1);
    await nextTurn();
    expect(a.now).toMatchObject({ code: 'REPLICAS_NOT_REACHED', replicas: { reached: 1 } });
  });
});

describe.each<[string, number, (wait: Sent) => void]>([
  ['is answered by none', 0, (wait) => wait.answer(0)],
  ['is answered by too few', 1, (wait) => wait.answer(1)],
  ['fails', 0, (wait) => wait.fail(new Error('gone'))],
  ['is answered with what is no number', Number.NaN, (wait) => wait.answer('OK')],
])('when WAIT %s', (_, reached, settle) => {
  it('a run is not confirmed, and says how many have it', async () => {
    const a = run('a');
    const [step, wait] = await taken();
    step!.answer('A');
    settle(wait!);
    await nextTurn();
    expect(a.now).toBeInstanceOf(ReplicasNotReachedError);
    expect(a.now).toMatchObject({ key: 'a', replicas: { acks: 2, timeout: 100, reached } });
  });

  it('a run may say what its answer is worth all the same', async () => {
    const a = run('a', { unconfirmed: (answer) => `${String(answer)}, perhaps` });
    const failed = run('b', { unconfirmed: () => 'never' });
    const [step, other, wait] = await taken();
    step!.answer('A');
    other!.fail(new RangeError('b failed'));
    settle(wait!);
    await nextTurn();
    expect(a.now).toBe('A, perhaps');
    expect(failed.now).toBeInstanceOf(RangeError);
  });

  it('the next ones leave, and may be confirmed', async () => {
    run('a');
    const [step, wait] = await taken();
    const b = run('b');
    step!.answer('A');
    settle(wait!);
    const [next, nextWait] = await taken();
    next!.answer('B');
    nextWait!.answer(2);
    await nextTurn();
    expect(b.now).toBe('B');
  });
});

describe('when Redis refuses WAIT', () => {
  const refusal = storeFailure(
    replyError("NOPERM User locks has no permissions to run the 'wait' command"),
    undefined,
  );

  it('a run says so, and that it may have had its effect', async () => {
    const [a, b] = [run('a'), run('b', { unconfirmed: () => 'needs none' })];
    const [step, other, wait] = await taken();
    step!.answer('A');
    other!.answer('B');
    wait!.fail(refusal);
    await nextTurn();
    expect(a.now).toMatchObject({
      message: expect.stringContaining('for lock "a": the Redis user lacks the right +wait'),
      code: 'LOCK_STORE',
      key: 'a',
      outcome: 'unknown',
      retryable: false,
    });
    expect(b.now).toBe('needs none');
  });

  it('the next ones leave, and may be confirmed', async () => {
    run('a');
    const [step, wait] = await taken();
    const b = run('b');
    step!.answer('A');
    wait!.fail(refusal);
    const [next, nextWait] = await taken();
    next!.answer('B');
    nextWait!.answer(2);
    await nextTurn();
    expect(b.now).toBe('B');
  });
});

/** A run, and what came of it. */
function run(key: string, more: Partial<ScriptRun<unknown>> = {}): { now: unknown } {
  const come: { now: unknown } = { now: undefined };
  const unconfirmed = (_: unknown, error: Error): never => {
    throw error;
  };
  const read = (reply: unknown): unknown => reply;
  acks.run({ script, keys: new KeyList([]), args: [], key, read, unconfirmed, ...more }).then(
    (answer) => (come.now = answer),
    (error: unknown) => (come.now = error),
  );
  return come;
}

/** What was sent since this was asked last. */
async function taken(): Promise<Sent[]> {
  await nextTurn();
  return sent.splice(0);
}

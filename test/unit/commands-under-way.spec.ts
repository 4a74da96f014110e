import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Command } from 'ioredis';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { KeyList, LuaScript } from '../../lib/engine/redis/index.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis, replyError } from '../support/fake-redis.js';

const TIMEOUT = 500;
const script = new LuaScript('local key = KEYS[1]\nreturn key');

let clock: ManualClock;
let redis: FakeRedis;
let connection: RedisConnection;

beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis();
  connection = new RedisConnection(redis.client, TIMEOUT, clock);
});
afterEach(() => connection.close());

describe('on a socket that takes nothing any more, before ioredis heard of its end', () => {
  it('nothing is sent, and each command says so', async () => {
    redis.stream.writable = false;
    const commands = [run(), command('time')];
    await nextTurn();
    expect(commands.map(({ now }) => now)).toEqual(['unsent', 'unsent']);
    expect(redis.sent).toEqual([]);
  });

  it('a connection that is silent is replaced still: its other half may be open for ever', async () => {
    command();
    redis.stream.writable = false;
    await clock.advance(TIMEOUT);
    expect(redis.disconnects).toEqual([true]);
  });
});

describe('a command without an answer', () => {
  it('fails at its own deadline, and not at that of another', async () => {
    const first = command();
    await clock.advance(300);
    const second = command();
    await clock.advance(TIMEOUT - 300);
    expect([first.now, second.now]).toEqual(['unknown', undefined]);
    await clock.advance(299);
    expect(second.now).toBeUndefined();
    await clock.advance(1);
    expect(second.now).toBe('unknown');
    expect(clock.pending).toBe(0);
  });

  it('has a deadline also when those before it were answered', async () => {
    const first = command();
    await clock.advance(TIMEOUT - 1);
    const second = command();
    first.wire.resolve('PONG' as never);
    await clock.advance(TIMEOUT);
    expect([first.now, second.now]).toEqual(['PONG', 'unknown']);
  });

  it('has the connection replaced when nothing was heard since it was sent', async () => {
    const answered = command();
    await clock.advance(10);
    answered.wire.resolve('PONG' as never);
    command();
    await clock.advance(TIMEOUT);
    expect(redis.disconnects).toEqual([]); // an answer of the same moment may be later
    await clock.advance(1);
    command();
    await clock.advance(TIMEOUT);
    expect(redis.disconnects).toEqual([true]);
  });

  it.each<[string, (wire: Command) => void]>([
    ['an answer', (wire) => wire.resolve('PONG' as never)],
    ['a refusal', (wire) => wire.reject(replyError('ERR no'))],
    ['NOSCRIPT', (wire) => wire.reject(replyError('NOSCRIPT No matching script.'))],
  ])('leaves the connection where %s to another was heard since', async (_, answer) => {
    const silent = command();
    await clock.advance(100);
    const other = run();
    await clock.advance(100);
    answer(other.wire);
    await clock.advance(TIMEOUT - 200);
    expect(silent.now).toBe('unknown');
    expect(redis.disconnects).toEqual([]);
  });

  it('has the connection replaced although others before it had an answer', async () => {
    const first = command();
    await clock.advance(10);
    first.wire.resolve('PONG' as never);
    await clock.advance(10);
    [command(), command()].forEach(({ now }) => expect(now).toBeUndefined());
    await clock.advance(TIMEOUT);
    expect(redis.disconnects).toEqual([true]);
  });

  it('takes no answer that comes after it failed', async () => {
    let read = 0;
    const keys = new KeyList(['k']);
    const late = command('', connection.run({ script, keys, args: [], read: () => (read += 1) }));
    await clock.advance(TIMEOUT);
    late.wire.resolve('late' as never);
    await nextTurn();
    expect([late.now, read]).toEqual(['unknown', 0]);
  });
});

describe('a connection that is lost with commands under way', () => {
  it.each<[string, () => void]>([
    ['closes', () => redis.go()],
    ['ends', () => redis.emit('end')],
    ['is closed by us', () => connection.close()],
  ])('fails all of them at once when it %s', async (_, lose) => {
    const all = [command(), run(), command()];
    lose();
    await nextTurn();
    expect(all.map(({ now }) => now)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(clock.monotonic()).toBe(0);
  });

  it('sends none of them again, and nothing while it is away', async () => {
    run();
    redis.go();
    redis.names();
    const [meanwhile, step] = [command(), run()];
    await nextTurn();
    expect([meanwhile.now, step.now]).toEqual(['unsent', 'unsent']);
    redis.come();
    await nextTurn();
    expect(redis.names()).toEqual([]);
  });

  it('leaves no timer of ours when we close it', async () => {
    command();
    connection.close();
    expect(clock.pending).toBe(0);
  });

  it('waits for no text of a script that was on its way', async () => {
    run().wire.reject(replyError('NOSCRIPT No matching script.'));
    await nextTurn();
    expect(redis.names()).toEqual(['evalsha', 'eval']);
    redis.go();
    redis.come();
    run().wire.reject(replyError('NOSCRIPT No matching script.'));
    await nextTurn();
    expect(redis.names()).toEqual(['evalsha', 'eval']);
  });
});

describe('a script that the server has forgotten', () => {
  it('is not sent for a caller who gave up', async () => {
    const step = run('k', () => false);
    step.wire.reject(replyError('NOSCRIPT No matching script.'));
    await nextTurn();
    expect(step.now).toBe('unsent');
    expect(redis.names()).toEqual(['evalsha']);
  });

  it('is not sent for a run that failed meanwhile', async () => {
    const step = run();
    await clock.advance(TIMEOUT);
    step.wire.reject(replyError('NOSCRIPT No matching script.'));
    await nextTurn();
    expect(redis.names()).toEqual(['evalsha']);
  });

  it('is sent as text by one run; those that hear of it meanwhile follow by its hash', async () => {
    const [first, second] = [run(), run()];
    redis.names();
    for (const { wire } of [first, second]) wire.reject(replyError('NOSCRIPT No script.'));
    await nextTurn();
    expect(redis.names()).toEqual(['eval', 'evalsha']);
  });
});

it('what reads an answer is told when that came', async () => {
  let at = 0;
  const keys = new KeyList(['k']);
  const read = (_: unknown, receivedAt: number): void => void (at = receivedAt);
  const step = command('', connection.run({ script, keys, args: [], read }));
  await clock.advance(123);
  step.wire.resolve('k' as never);
  await nextTurn();
  expect(at).toBe(123);
});

describe('an answer to another command', () => {
  it('fails its command and those behind it, and the connection is replaced', async () => {
    const read = (): never => {
      throw new TypeError('no reply');
    };
    const keys = new KeyList(['k']);
    const first = command('', connection.run({ script, keys, args: [], read }));
    const next = run();
    first.wire.resolve('another’s' as never);
    next.wire.resolve('its own, or not' as never);
    await nextTurn();
    expect([first.now, next.now]).toEqual(['unknown', 'unknown']);
    expect(redis.disconnects).toEqual([true]);
  });
});

/** A command, and what is known of it: nothing, its answer, or the outcome of its failure. */
function command(name = 'ping', sent?: Promise<unknown>): { now: unknown; wire: Command } {
  const promise = sent ?? connection.send(name);
  const known: { now: unknown; wire: Command } = { now: undefined, wire: redis.sent.at(-1)! };
  promise.then(
    (answer) => (known.now = answer),
    (error: unknown) => (known.now = error instanceof LockStoreError ? error.outcome : error),
  );
  return known;
}

function run(key = 'k', wanted?: () => boolean): { now: unknown; wire: Command } {
  const read = (reply: unknown): unknown => reply;
  const keys = new KeyList([key]);
  return command('', connection.run({ script, keys, args: [], key, wanted: wanted!, read }));
}

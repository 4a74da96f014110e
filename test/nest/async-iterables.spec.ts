import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LeaseLostError,
  LockNotAcquiredError,
  LockOptionsError,
  type LockService,
} from '../../lib/index.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { Exports } from './exports-in-rows.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('a method under @Locked that returns an AsyncIterable', () => {
  let exports: Exports;
  beforeAll(async () => {
    exports = (await bench.app({ providers: [Exports] })).get(Exports);
  });
  beforeEach(() => {
    exports.started = exports.ended = 0;
  });

  const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

  it('neither runs nor locks before the first pull', async () => {
    const rows = exports.rows('a', 2);
    expect(exports.started).toBe(0);
    expect(await state('export:a')).toBe('free');
    expect(await all(rows)).toEqual(['a0 true export:a', 'a1 true export:a']);
    expect(await state('export:a')).toBe('free');
  });

  it('holds the lock between two pulls', async () => {
    const rows = exports.rows('between', 2);
    await rows.next();
    expect(await state('export:between')).toBe('held');
    await rows.next();
    expect(await rows.next()).toEqual({ done: true, value: undefined });
    expect(await state('export:between')).toBe('free');
  });

  it('gives the lock back when its consumer breaks off', async () => {
    for await (const row of exports.rows('break', 2)) {
      expect(row).toContain('break0');
      break;
    }
    expect(exports.ended).toBe(1);
    expect(await state('export:break')).toBe('free');
  });

  it('gives the lock back when its consumer throws', async () => {
    const consume = async (): Promise<void> => {
      for await (const row of exports.rows('throw', 2)) throw new TypeError(row);
    };
    await expect(consume()).rejects.toThrow(TypeError);
    expect(exports.ended).toBe(1);
    expect(await state('export:throw')).toBe('free');
  });

  it('gives the lock back when it fails', async () => {
    await expect(all(exports.broken('error'))).rejects.toThrow(new RangeError('broken'));
    expect(await state('export:error')).toBe('free');
  });

  it('lets two consumers take turns', async () => {
    const [first, second] = [exports.rows('turns', 2), exports.rows('turns', 2)];
    await first.next();
    const waiting = all(second);
    await untilWaiting(rival, 'export:turns');
    expect(exports.started).toBe(1);
    await all(first);
    expect(await waiting).toHaveLength(2);
  });

  it('fails at the next pull when its lease was lost', async () => {
    const rows = exports.rows('lost', 9);
    await rows.next();
    await rival.forceRelease('export:lost');
    await expect(all(rows)).rejects.toThrow(LeaseLostError);
    expect(exports.ended).toBe(1);
  });

  it('answers what onBusy says when another holds the lock', async () => {
    const lease = await rival.acquire('export:busy');
    expect(await all(exports.instead())).toEqual(['busy', 'busy']);
    await expect(all(exports.busy())).rejects.toThrow(LockNotAcquiredError);
    await lease.release();
    expect(await all(exports.instead())).toEqual(['ran']);
  });

  it('is told to say so when its type does not show it', async () => {
    await expect(exports.hidden()).rejects.toThrow(LockOptionsError);
    await expect(exports.hidden()).rejects.toThrow("returns: 'iterable'");
    expect(exports.started).toBe(0);
    expect(await all(exports.said())).toEqual(['true 0 true export:true ']);
  });
});

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const row of rows) seen.push(row);
  return seen;
}

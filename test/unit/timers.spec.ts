import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Schedule, type Scheduled } from '../../lib/engine/client/leases/timers.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { collectGarbage } from '../support/collect-garbage.js';

class Item implements Scheduled {
  due: Scheduled['due'];
  nth = 0;

  constructor(readonly name: string) {}
}

let clock: ManualClock;
let schedule: Schedule<Item>;
/** When who was woken, and with whom. */
let woken: [at: number, ...names: string[]][];
let wake = (_due: Item[]): void => {};
const [a, b, c, d] = [new Item('a'), new Item('b'), new Item('c'), new Item('d')];

beforeEach(() => {
  clock = new ManualClock();
  woken = [];
  wake = (due) => void woken.push([clock.monotonic(), ...due.map(({ name }) => name)]);
  for (const item of [a, b, c, d]) item.due = undefined;
  schedule = new Schedule<Item>(clock, (due) => wake(due));
});

describe('a schedule', () => {
  it('wakes each at its time, and none before', async () => {
    schedule.set(b, 200);
    schedule.set(a, 100);
    schedule.set(c, 300);
    schedule.set(d, 250);
    await clock.advance(99);
    expect([woken, schedule.size]).toEqual([[], 4]);
    await clock.advance(500);
    expect(woken).toEqual([
      [100, 'a'],
      [200, 'b'],
      [250, 'd'],
      [300, 'c'],
    ]);
    expect([schedule.size, clock.pending]).toEqual([0, 0]);
  });

  it('wakes those at once whose times are hardly apart, late rather than early', async () => {
    schedule.set(a, 96);
    schedule.set(b, 100);
    schedule.set(c, 101);
    schedule.set(d, 98);
    await clock.advance(200);
    expect(woken).toEqual([
      [100, 'a', 'b', 'd'],
      [105, 'c'],
    ]);
  });

  it('has one timer, however many it is to wake', async () => {
    const items = Array.from({ length: 50 }, (_, nth) => new Item(`${nth}`));
    for (const [nth, item] of items.entries()) schedule.set(item, 100 * (50 - nth));
    expect([clock.pending, schedule.size]).toEqual([1, 50]);
    await clock.advance(100);
    expect([clock.pending, schedule.size]).toEqual([1, 49]);
    await clock.advance(4_900);
    expect(woken.map(([at]) => at)).toEqual(items.map((_, nth) => 100 * (nth + 1)));
    expect([clock.pending, schedule.size]).toEqual([0, 0]);
  });

  it('wakes whose time is set again at the new time alone, earlier or later', async () => {
    schedule.set(a, 100);
    schedule.set(b, 200);
    schedule.set(a, 300);
    schedule.set(b, 50);
    expect(schedule.size).toBe(2);
    await clock.advance(500);
    expect(woken).toEqual([
      [50, 'b'],
      [300, 'a'],
    ]);
  });

  it('wakes nobody who was taken out, once or twice', async () => {
    schedule.set(a, 100);
    schedule.set(b, 100);
    schedule.set(c, 200);
    schedule.delete(a);
    schedule.delete(a);
    schedule.delete(c);
    schedule.delete(d);
    expect(schedule.size).toBe(1);
    await clock.advance(500);
    expect(woken).toEqual([[100, 'b']]);
    expect([schedule.size, clock.pending]).toEqual([0, 0]);
    schedule.set(c, 600);
    expect(schedule.size).toBe(1);
    await clock.advance(100);
    expect(woken).toEqual([
      [100, 'b'],
      [600, 'c'],
    ]);
  });

  it('takes out who is meant, in whatever order they came and go', async () => {
    for (const item of [a, b, c, d]) schedule.set(item, 100);
    schedule.delete(a); // the last of them takes its place
    schedule.delete(d);
    schedule.set(a, 100);
    schedule.delete(b);
    await clock.advance(100);
    expect(woken.map(([at, ...names]) => [at, ...names.sort()])).toEqual([[100, 'a', 'c']]);
    expect(schedule.size).toBe(0);
  });

  it('keeps no time at which it wakes nobody any more', async () => {
    schedule.set(b, 100);
    const times: WeakRef<object>[] = [];
    for (let nth = 0; nth < 1_000; nth += 1) {
      schedule.set(a, 3_600_000 + 5 * nth);
      times.push(new WeakRef(a.due!));
      schedule.delete(a);
    }
    await collectGarbage();
    expect(times.filter((time) => time.deref() !== undefined).length).toBeLessThan(20);
    await clock.advance(200);
    expect([woken, clock.pending]).toEqual([[[100, 'b']], 0]);
  });

  it('calls nobody where all whose time had come were taken out', async () => {
    schedule.set(a, 100);
    schedule.set(b, 300);
    schedule.delete(a);
    await clock.advance(250);
    expect(woken).toEqual([]);
    await clock.advance(50);
    expect(woken).toEqual([[300, 'b']]);
  });

  it('wakes at once whose time is over, after the call', async () => {
    await clock.advance(1_000);
    schedule.set(a, 3);
    expect(woken).toEqual([]);
    await clock.advance(0);
    expect(woken).toEqual([[1_000, 'a']]);
  });

  it('takes those again whom it has just woken, and others', async () => {
    wake = (due) => {
      woken.push([clock.monotonic(), ...due.map(({ name }) => name)]);
      if (woken.length > 2) return;
      schedule.set(due[0]!, clock.monotonic() + 100);
      schedule.set(b, clock.monotonic() + 20);
    };
    schedule.set(a, 100);
    schedule.set(c, 400);
    await clock.advance(500);
    expect(woken).toEqual([
      [100, 'a'],
      [120, 'b'],
      [140, 'b'],
      [200, 'a'],
      [400, 'c'],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('wakes nobody any more when it was stopped', async () => {
    schedule.set(a, 100);
    schedule.set(b, 200);
    schedule.stop();
    schedule.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(500);
    expect(woken).toEqual([]);
    schedule.set(c, 600);
    await clock.advance(500);
    expect(woken).toEqual([[600, 'c']]);
  });
});

it('what is due in months does not run at once, as Node runs what is due after 2^31 ms', () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  systemClock.after(2 ** 33, () => {})();
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
  timers.mockRestore();
});

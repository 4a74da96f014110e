import { expect, it } from '@jest/globals';
import { ManualClock } from '../../lib/memory/testing/index.js';

it('time stands still until a test moves it', async () => {
  const clock = new ManualClock(1_000);
  expect([clock.monotonic(), clock.wall()]).toEqual([0, 1_000]);
  await clock.advance(250);
  expect([clock.monotonic(), clock.wall()]).toEqual([250, 1_250]);
});

it('timers run in their order, each at its own time', async () => {
  const clock = new ManualClock();
  const ran: [string, number][] = [];
  const run = (name: string) => () => void ran.push([name, clock.monotonic()]);
  clock.after(30, run('third'));
  clock.after(10, run('first'));
  clock.after(10, run('second'));
  clock.after(40, run('too late'));
  await clock.advance(39);
  expect(ran).toEqual([
    ['first', 10],
    ['second', 10],
    ['third', 30],
  ]);
  expect(clock.pending).toBe(1);
});

it('promises settle between two timers, and may set timers that are due', async () => {
  const clock = new ManualClock();
  const ran: string[] = [];
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  const walk = async (): Promise<void> => {
    for (const step of ['one', 'two', 'three']) {
      await sleep(10);
      ran.push(`${step} at ${clock.monotonic()}`);
    }
  };
  const walked = walk();
  clock.after(25, () => ran.push('between'));
  await clock.advance(30);
  await walked;
  expect(ran).toEqual(['one at 10', 'two at 20', 'between', 'three at 30']);
});

it('a timer that was cancelled does not run', async () => {
  const clock = new ManualClock();
  let ran = false;
  clock.after(5, () => (ran = true))();
  await clock.advance(10);
  expect(ran).toBe(false);
});

it('a timer without delay runs at the next move, however small', async () => {
  const clock = new ManualClock();
  let ran = false;
  clock.after(-5, () => (ran = true));
  expect(ran).toBe(false);
  await clock.advance(0);
  expect(ran).toBe(true);
});

import { afterEach, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { onAbort } from '../../lib/engine/options/index.js';

const warnings: unknown[] = [];
const note = (warning: unknown): void => void warnings.push(warning);
process.on('warning', note);
afterEach(() => void warnings.splice(0));

it('any number may wait under one signal: it has one listener, and nobody is warned', async () => {
  const controller = new AbortController();
  const done: number[] = [];
  const callOffs = Array.from({ length: 1_000 }, (_, at) =>
    onAbort(controller.signal, () => done.push(at)),
  );
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  for (const callOff of callOffs.slice(10)) callOff();
  controller.abort();
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

it('a signal under which nobody waits any more has no listener, and may be used again', () => {
  const controller = new AbortController();
  let done = 0;
  const [first, second] = [1, 2].map(() => onAbort(controller.signal, () => (done += 1)));
  first!();
  first!();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  second!();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  const third = onAbort(controller.signal, () => (done += 1));
  second!();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort();
  third();
  expect(done).toBe(1);
});

it('without a signal there is nothing to call off', () => {
  expect(onAbort(undefined, () => {})()).toBeUndefined();
});

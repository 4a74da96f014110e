import { expect } from '@jest/globals';
import { askedInProcess } from '../support/command.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

/** Takes all steps with the program: where `words` and `env` say, a process holds `keys`. */
export async function sees(
  keys: readonly string[],
  holder: LockProcess,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const leases = await Promise.all(keys.map((key) => holder.acquire(key)));
  const { answer } = await askedInProcess(['list', ...words], env);
  expect(answer.locks.map(({ key }: { key: string }) => key)).toEqual(keys.toSorted());
  const [key] = keys;
  expect(await askedInProcess(['inspect', key!, ...words], env)).toMatchObject({
    code: 0,
    answer: { state: 'held', holder: { pid: process.pid } },
  });
  const watched = await askedInProcess(['watch', key!, '--for=0ms', ...words], env);
  expect(watched.answer.locks).toMatchObject([{ key }]);
  const released = await askedInProcess(['release', key!, '--yes', ...words], env);
  expect(released).toEqual({ code: 0, answer: { key, released: true } });
  await until('the holder is told', () => leases[0]!.signal.aborted);
  const checked = await askedInProcess(['doctor', ...words], env);
  expect(problemsOf(checked.answer)).toEqual([]);
  expect(checked.code).toBe(0);
}

/** What doctor calls a problem. */
export function problemsOf({ findings }: { findings: { status: string }[] }): unknown[] {
  return findings.filter(({ status }) => status === 'problem');
}

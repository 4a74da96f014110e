import type { TurnsWorkload } from './workload.js';

function alone(callers: number, how: string, more: Partial<TurnsWorkload>): TurnsWorkload {
  return {
    kind: 'turns',
    name: `uncontended, ${callers} at a time, ${how}`,
    processes: 1,
    callers,
    contended: false,
    section: 0,
    think: 0,
    ...more,
  };
}

export const AT_ONCE = [1, 16, 256] as const;

export type AtOnce = (typeof AT_ONCE)[number];

/** Acquire and release on a key that was never seen before: what a lock costs a service that nobody else wants. */
export const newKeys = (callers: AtOnce): TurnsWorkload =>
  alone(callers, 'new keys', { newKeys: true });

/** On the same keys again and again. */
export const sameKeys = (callers: AtOnce): TurnsWorkload =>
  alone(callers, 'same keys', { like: newKeys(callers).name, thorough: true });

/** On new keys, in the first quarter of a second of a process: much of the code has not been compiled yet. */
export const cold = (callers: AtOnce): TurnsWorkload =>
  alone(callers, 'new keys, a fresh process, 250 ms', {
    newKeys: true,
    cold: 250,
    like: newKeys(callers).name,
    ...(callers < 256 && { thorough: true }),
  });

export const uncontended: TurnsWorkload[] = [newKeys, sameKeys, cold].flatMap((one) =>
  AT_ONCE.map(one),
);

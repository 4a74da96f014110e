import { type Clock, systemClock } from '../../lib/engine/options/index.js';

/** The clock of a process for which time passes `times` as slowly: its bounds hold on a machine as busy as that. */
export function slowClock(times: number): Clock {
  const from = { monotonic: systemClock.monotonic(), wall: systemClock.wall() };
  const slow = (name: 'monotonic' | 'wall') => (): number =>
    from[name] + (systemClock[name]() - from[name]) / times;
  return {
    monotonic: slow('monotonic'),
    wall: slow('wall'),
    after: (ms, task) => systemClock.after(ms * times, task),
  };
}

import { createHook } from 'node:async_hooks';

/** From now on, until it is asked: how many more timers run than at the start, also those that keep no process alive. */
export function countTimers(): () => number {
  const running = new Set<number>();
  const hook = createHook({
    init(id, type) {
      if (type === 'Timeout') running.add(id);
    },
    destroy(id) {
      running.delete(id);
    },
  }).enable();
  return () => {
    hook.disable();
    return running.size;
  };
}

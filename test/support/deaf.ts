import type { PushListener } from '../../lib/engine/locks/lock-store.js';

/** Waits for nothing, and does nothing with what is pushed. */
export const deaf: PushListener = {
  waits: () => false,
  grantedToNobody() {},
  granted() {},
  forced() {},
  kept() {},
  reconnected() {},
};

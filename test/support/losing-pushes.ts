import { withSteps, type Wrap } from './world.js';

/** Every push gets lost on its way, although the server believes it was heard. */
export const losingPushes: Wrap = (store) =>
  withSteps(store, {
    open: (listener) => store.open({ ...listener, granted() {}, forced() {}, kept() {} }),
  });

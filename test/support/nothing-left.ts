import { expect } from '@jest/globals';
import type { LockingProcess, World } from './world.js';

/** What locks may leave behind for a while: the last fencing token, the version for readers, and who asked last. */
export async function expectNothingLeft(
  world: World,
  ...processes: LockingProcess[]
): Promise<void> {
  const from = world.clock.monotonic();
  await world.until('no lock and no entry is left', async () =>
    (await world.keys()).every(({ name }) => /:(?:fences?|versions?|seen)$/.test(name)),
  );
  await world.until('nothing is under way', () =>
    processes.every(({ locks }) => Object.values(locks.load).every((count) => count === 0)),
  );
  expect(world.clock.monotonic() - from).toBeLessThan(1_000);
}

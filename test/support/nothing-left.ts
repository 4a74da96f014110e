import { expect } from '@jest/globals';
import type { LockingProcess, World } from './world.js';

/** What a lock may leave behind for a while: its last fencing token, and who asked last. */
export async function expectNothingLeft(
  world: World,
  ...processes: LockingProcess[]
): Promise<void> {
  const from = world.clock.monotonic();
  await world.until('no lock and no entry is left', async () =>
    (await world.keys()).every(({ name }) => /:(?:fences?|seen)$/.test(name)),
  );
  await world.until('nothing is under way', () =>
    processes.every(({ locks }) => Object.values(locks.load).every((count) => count === 0)),
  );
  expect(world.clock.monotonic() - from).toBeLessThan(1_000);
}

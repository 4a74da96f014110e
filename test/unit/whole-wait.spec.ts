import { expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';

it('who waits for a sibling first, and then for others, waits no longer in all than it wanted to', async () => {
  const world = new MemoryWorld(kinds['lock']!);
  const [process, other] = [await world.process(), await world.process()];
  const outer = await process.acquire();
  await outer.run(async () => {
    const sibling = await process.acquire();
    const from = world.clock.monotonic();
    const failed = process.acquire({ wait: 300 }).catch((error: unknown) => error);
    const next = other.acquire();
    await world.waiting(1);
    await world.elapse(200);
    void outer.release();
    void sibling.release(); // the lock goes to the other process, before the next sibling had its turn
    expect((await world.finish(next)).held).toBe(true);
    const error = (await world.finish(failed)) as LockNotAcquiredError;
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    expect(error.message).toContain('within 300 ms');
    expect(error.waited).toBeGreaterThanOrEqual(300);
    expect(error.waited).toBeLessThan(310);
    expect(world.clock.monotonic() - from).toBeLessThan(310);
  });
  await world.close();
});

it('who waits in vain for a sibling is told how long, and how long it wanted to', async () => {
  const world = new MemoryWorld(kinds['lock']!);
  const process = await world.process();
  const outer = await process.acquire({ ttl: 60_000 });
  await outer.run(async () => {
    await process.acquire();
    const failed = process.acquire({ wait: 300 }).catch((error: unknown) => error);
    process.clock.stall(700); // its timer comes late
    const error = (await world.finish(failed)) as LockNotAcquiredError;
    expect(error.message).toContain('within 300 ms');
    expect(error.waited).toBeGreaterThanOrEqual(700);
    const once = (await world.finish(
      process.acquire({ wait: 0 }).catch((each: unknown) => each),
    )) as LockNotAcquiredError;
    expect([once.waited, once.message]).toEqual([0, expect.stringContaining('is held by another')]);
  });
  await world.close();
});

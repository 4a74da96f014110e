import { expect } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import { type Case, cases, MAX_HOLD, Play, said, TTL } from './play-of-options.js';

/** Each case, said, with its check. */
export const optionPairs: [sentence: string, check: () => Promise<void>][] = cases.map((play) => [
  said(play),
  () => check(play),
]);

async function check(play: Case): Promise<void> {
  const game = new Play(play);
  const { world } = game;
  const [a, b, c] = [await world.process(), await world.process(), await world.process()];
  const from = world.clock.monotonic();
  const lease = await world.finish(game.hold(a));
  const tokens = game.tokensOf(lease);
  await world.finish(game.use(a, lease));

  // Nobody comes in beside it, and who waits does not either.
  await expect(world.finish(game.rival(b, 0))).rejects.toThrow(LockNotAcquiredError);
  let came = false;
  const waiting = later(game.rival(b, Infinity).finally(() => (came = true)));
  await world.elapse(300);
  expect([lease.held, came]).toEqual([true, false]);
  const ends = play.end === 'lost at its end' || play.end === 'crashed';
  const { signal } = lease;

  await world.finish(game.end(lease, a, c));
  const next = await world.finish(waiting);
  const after = world.clock.monotonic() - from;
  expect(next.held).toBe(true);
  if (play.end !== 'crashed') expect(lease.held).toBe(false);
  if (ends) expect(after).toBeGreaterThanOrEqual(TTL - 50);
  if (ends) expect(after).toBeLessThan(MAX_HOLD + 2 * TTL + 1_500);
  const keeps = play.end === 'released' || play.end === 'handed over';
  if (keeps) expect(after).toBeGreaterThanOrEqual(play.minHold);
  if (play.end === 'lost at its end' || play.end === 'taken away') {
    await world.until('its holder is told', () => signal.aborted);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
    await expect(world.finish(lease.extend(TTL))).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await world.finish(lease.release())).toBe(false);
  }
  if (game.isAlone && play.fencing) {
    lease.keys.forEach((key, at) => expect(next.fencingTokenOf(key)).toBeGreaterThan(tokens[at]!));
  }
  expect(await world.finish(next.release())).toBe(true);
  await expectNothingLeft(world, ...(play.end === 'crashed' ? [b, c] : [a, b, c]));
  await world.close();
}

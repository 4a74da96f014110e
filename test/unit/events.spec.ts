import { afterEach, expect, it } from '@jest/globals';
import { type AcquireTrace, type HoldTrace, lockChannels } from '../../lib/events/index.js';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/testing/index.js';

const undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

/** What is published on both tracing channels, in order. */
function traced(): { step: string; trace: AcquireTrace | HoldTrace }[] {
  const seen: { step: string; trace: AcquireTrace | HoldTrace }[] = [];
  for (const name of ['acquire', 'hold'] as const) {
    const note =
      (step: string) =>
      (trace: object): void =>
        void seen.push({ step: `${name}:${step}`, trace: trace as AcquireTrace });
    const subscribers = {
      start: note('start'),
      end: note('end'),
      asyncStart: note('asyncStart'),
      asyncEnd: note('asyncEnd'),
      error: note('error'),
    };
    lockChannels[name].subscribe(subscribers);
    undo.push(() => lockChannels[name].unsubscribe(subscribers));
  }
  return seen;
}

function service() {
  const clock = new ManualClock();
  const server = new MemoryServer(clock);
  return { clock, server, locks: memoryLockService({ clock, server }) };
}

it('a call and a hold are told from their start to their end', async () => {
  const seen = traced();
  const { locks, clock } = service();
  const lease = await locks.acquire('account:42', { name: 'account' });
  expect(seen.map(({ step }) => step)).toEqual([
    'acquire:start',
    'acquire:end',
    'hold:start',
    'hold:end',
    'acquire:asyncStart',
    'acquire:asyncEnd',
  ]);
  const [asked, held] = [seen[0]!.trace, seen[2]!.trace as HoldTrace];
  const subject = { name: 'account', key: 'account:42', mode: 'exclusive', topology: 'memory' };
  expect(asked).toMatchObject({ ...subject, outcome: 'acquired', wait: 10_000, waited: 0 });
  expect(held).toMatchObject({ ...subject, acquire: asked, token: lease.fencingToken });
  await clock.advance(1_500);
  await lease.release();
  expect(seen.slice(6).map(({ step }) => step)).toEqual(['hold:asyncStart', 'hold:asyncEnd']);
  expect(held).toMatchObject({ end: 'released', held: 1_500 });
});

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { Extension } from '../../lib/engine/locks/lock-store.js';
import { momentOf, READER } from '../../lib/engine/options/index.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { Gate } from '../support/gate.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';
import { type LockingProcess, withSteps } from '../support/world.js';

const TTL = 3_000;

let world: MemoryWorld;
let process: LockingProcess;
/** What was asked for to be renewed, list by list. */
let asked: (readonly LockRequest[])[];
/** What the store does with it. */
let extend: ((requests: readonly LockRequest[]) => Promise<Extension>) | undefined;

beforeEach(async () => {
  asked = [];
  extend = undefined;
  world = new MemoryWorld(kinds['lock']!);
  process = await world.process({}, (store) =>
    withSteps(store, {
      extend: (requests) => {
        asked.push(requests);
        return (extend ?? ((all) => store.extend(all)))(requests);
      },
    }),
  );
});
afterEach(() => {
  jest.restoreAllMocks();
  return world.close();
});

it('leases that are renewed as they were are asked for by one list, the same again and again', async () => {
  const leases = await acquire('abc');
  const [list] = await renewals();
  const again = await renewals(10);
  expect(again.length).toBeGreaterThanOrEqual(9);
  expect(again.filter((other) => other !== list)).toEqual([]);
  expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
});

it('who leaves is not asked for any more, and the others are asked for by another list', async () => {
  const [a, b, c] = await acquire('abc');
  expect(namesOf(await renewals())).toEqual(['abc']);
  await b!.release();
  const lists = namesOf(await renewals(2));
  expect(new Set(lists)).toEqual(new Set(['ac']));
  await Promise.all([a!.release(), c!.release()]);
  expect(await renewals(3)).toEqual([]);
  expect(process.locks.load).toMatchObject({ held: 0, watched: 0 });
});

it('who asks for more time is renewed at its own time, and later with the others', async () => {
  const leases = await acquire('abc');
  await renewals();
  await leases[0]!.extend(20_000);
  await renewals(3);
  expect(leases[0]!.expiresAt - world.clock.wall()).toBeGreaterThan(15_000);
  // No two draws put two leases into one beat, so that only those that share a draw are due together.
  let draws = 0;
  jest.spyOn(Math, 'random').mockImplementation(() => ((draws += 1) % 4) / 4);
  for (const names of namesOf(await renewals(12))) expect(names).toMatch(/^(a|bc|abc)$/);
  expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
});

it('who becomes a reader is asked for as one', async () => {
  const leases = await acquire('abc');
  await renewals();
  await leases[1]!.downgrade();
  const asReader = (await renewals(2)).flat().filter(({ key }) => key === 'b');
  expect(asReader.length).toBeGreaterThan(0);
  expect(asReader.every(({ share }) => share === READER)).toBe(true);
  expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
});

it('one that is lost takes none of the others along', async () => {
  const leases = await acquire('abc');
  await renewals();
  await (await world.client()).lock.force('b');
  await renewals(3);
  expect(leases.map(({ held }) => held)).toEqual([true, false, true]);
  expect(namesOf(await renewals())).toEqual(['ac']);
});

it('leases of several ttls have each their own pace', async () => {
  await acquire('abcdefgh');
  await acquire('ABCDEFGH', 10 * TTL);
  await renewals(10); // the second renewal of a long lease comes 17.8 s after its grant at the earliest
  expect(new Set(namesOf(await renewals(5)))).toEqual(new Set(['abcdefgh']));
});

it('leases that become due at one time go together from then on', async () => {
  await acquire('ab');
  await world.elapse(40);
  await Promise.all(['c', 'd'].map((key) => process.acquire({ key, ttl: TTL }))); // no second stall: it would end the first two
  const together = async (): Promise<boolean> => {
    const lists = await renewals(); // one, or two
    return lists.length > 0 && lists.every(({ length }) => length === 4);
  };
  while (!(await together())); // batches meet sooner or later: when is drawn by chance
  await renewals(20);
  expect(await together()).toBe(true);
});

it('all of a list that nobody answers are lost at their deadline, and none is asked for twice at once', async () => {
  const leases = await acquire('abc');
  await renewals();
  const hangs = new Gate();
  extend = () =>
    hangs.opened.then(() => ({ sent: momentOf(world.clock), remaining: [TTL, TTL, TTL] }));
  asked = [];
  await world.elapse(2 * TTL);
  expect(leases.map(({ held }) => held)).toEqual([false, false, false]);
  expect(asked.length).toBe(1);
  hangs.open();
  await world.elapse(2 * TTL);
  expect(process.locks.load).toMatchObject({ held: 0, watched: 0 });
});

it('a stall of 0.6 of the ttl costs no lease, whenever it comes', async () => {
  for (let after = 0; after < 1; after += 0.05) {
    const lease = await process.acquire({ key: `${after}`, ttl: TTL });
    await world.elapse(after * TTL);
    process.clock.stall(0.6 * TTL);
    expect(lease.held).toBe(true);
    await lease.release();
  }
});

it('a lease that somebody keeps after its end keeps none of those it was renewed with, nor those that they were', async () => {
  const ended: WeakRef<object>[] = [];
  const kept = await process.acquire({ key: 'kept', ttl: TTL });
  let last: BaseLease = kept;
  for (let at = 0; at < 5; at += 1) {
    const next = await process.acquire({ key: `${at}`, ttl: TTL });
    process.clock.pass(TTL / 3);
    await world.elapse(10);
    if (last !== kept) ended.push(new WeakRef(SingleLease.heldLeaseOf(last as SingleLease)));
    await last.release();
    last = next;
  }
  expect(namesOf(asked)).toEqual(['0kept', '01', '12', '23', '34']);
  await last.release();
  await world.elapse(TTL);
  await collectGarbage();
  expect(kept.held).toBe(false);
  // What ended last may still stand on the stack of this test.
  expect(ended.slice(0, 2).map((lease) => lease.deref())).toEqual([undefined, undefined]);
});

it('who gives a lease back because another is lost is not asked for, though both were due at once', async () => {
  const stays = await process.acquire({ key: 'stays', ttl: 2 * TTL });
  const ends = await process.acquire({ key: 'ends', ttl: TTL, renew: false });
  let released: Promise<boolean> | undefined;
  ends.signal.addEventListener('abort', () => void (released = stays.release()));
  process.clock.pass(TTL - 10);
  await world.elapse(20);
  expect(await released).toBe(true);
  await world.elapse(10 * TTL);
  expect(asked).toEqual([]);
});

it('who becomes a reader before a renewal that was asked for as a writer is not lost by its answer', async () => {
  const [a, b] = await acquire('ab');
  await renewals();
  const hangs = new Gate();
  const store = process.store;
  extend = async (requests) => {
    extend = undefined;
    await hangs.opened; // gathered behind a WAIT, or sent again as the server had forgotten the script
    return store.extend(requests);
  };
  await renewals();
  await a!.downgrade();
  hangs.open();
  await renewals(5);
  expect([a!.held, b!.held]).toEqual([true, true]);
});

/** Leases that are renewed for the first time when a timer was held up: all at once. */
async function acquire(names: string, ttl = TTL): Promise<BaseLease[]> {
  const leases = await Promise.all(names.split('').map((key) => process.acquire({ key, ttl })));
  process.clock.stall(TTL / 3);
  await world.elapse(10);
  return leases;
}

/** The lists of the next renewals: what is asked for in a third of the ttl. */
async function renewals(time = 1): Promise<(readonly LockRequest[])[]> {
  asked = [];
  for (let third = 0; third < time; third += 1) await world.elapse(TTL / 3);
  return asked;
}

function namesOf(lists: readonly (readonly LockRequest[])[]): string[] {
  return lists.map((list) =>
    list
      .map(({ key }) => key)
      .sort()
      .join(''),
  );
}

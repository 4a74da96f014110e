import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { type AcquireOptions, READER, type Share } from '../../lib/engine/options/index.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { closeAll } from '../support/closing.js';
import { monotonic } from '../support/monotonic.js';
import { until } from '../support/until.js';
import type { LockingProcess } from '../support/world.js';
import { ProxiedCluster } from './proxied-cluster.js';

const TTL = 60_000;
const COMMAND_TIMEOUT = 5_000;
/** A busy machine takes 2 s and more to connect anew, and lengthens in time what is held. */
const LEASE = 12_000;

let world: ProxiedCluster;
let keys = 0;
/** The slots that are not where they were at the start. */
const moved = new Set<number>();
beforeAll(async () => {
  world = await ProxiedCluster.start();
});
afterAll(() => world?.stop());
beforeEach(() => void (keys += 1));
afterEach(closeAll);

const permits = (count: number): Share => ({ permits: 2, count });

const rows: Readonly<Record<string, { first?: Share; next?: Share; minHold?: number }>> = {
  'a lock that is held alone': {},
  'the last reader, and a writer waits': { first: READER },
  'a writer, and a reader waits': { next: READER },
  'the only permits, and others wait for them': { first: permits(2), next: permits(2) },
  'the last reader, after a minimum hold': { first: READER, minHold: 200 },
};

it.each(Object.entries(rows))(
  'while its slot moves, %s is given back: who waits comes in soon after',
  async (_, { first, next, minHold }) => {
    const patient = { ttl: TTL, commandTimeout: COMMAND_TIMEOUT };
    const [a, b] = [await world.member(patient), await world.member(patient)];
    const key = `moving${keys}`;
    await (await a.acquire({ key })).release(); // from now on the lock has all its keys but those of its holders
    const held = await a.acquire({
      key,
      ...(first && { share: first }),
      ...(minHold && { minHold }),
    });
    const waiting = b.acquire({ key, ...(next && { share: next }), wait: TTL });
    waiting.catch(() => {});
    const observer = await world.member();
    const waits = async (): Promise<boolean> =>
      (await observer.store.inspect(key, 1)).waiting === 1;
    await until('the next one waits', waits);

    let released: Promise<boolean>;
    const over = await movingDuring(key, () => (released = held.release()));
    expect(await released!).toBe(true);
    const lease = await waiting;
    expect(monotonic() - over).toBeLessThan(COMMAND_TIMEOUT);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },
);

/** Begins to move the slot of this lock, takes a step, and ends the move when that came to a node. When it ended. */
async function movingDuring(key: string, step: () => Promise<unknown>): Promise<number> {
  const slot = slotOf(`lock:${key}`);
  moved.add(slot);
  const finish = await world.cluster.beginMove(slot);
  const before = await world.scriptsAsked();
  step().catch(() => {});
  await until('the step came to a node', async () => (await world.scriptsAsked()) > before);
  await finish();
  return monotonic();
}

it('while its slot moves, a lease is handed over: who restores it goes on soon after', async () => {
  const patient = { ttl: TTL, commandTimeout: COMMAND_TIMEOUT };
  const [a, b] = [await world.member(patient), await world.member(patient)];
  const key = `handed${keys}`;
  const lease = await a.acquire({ key });
  let text: Promise<string>;
  const over = await movingDuring(key, () => (text = lease.handOver()));
  const restored = await b.locks.restore(readHandOver(await text!));
  expect(monotonic() - over).toBeLessThan(COMMAND_TIMEOUT);
  expect(restored.fencingToken).toBe(lease.fencingToken);
  expect(await restored.release()).toBe(true);
});

it('while its slot moves, a condition is signalled: who awaits it wakes soon after', async () => {
  const patient = { ttl: TTL, commandTimeout: COMMAND_TIMEOUT };
  const [a, b] = [await world.member(patient), await world.member(patient)];
  const key = `signalled${keys}`;
  const condition = (process: LockingProcess, lease: Lease): Condition =>
    new Condition(process.locks.conditions, lease as SingleLease, 'changed');
  const awaits = await a.acquire({ key });
  const woken = condition(a, awaits).await();
  const signals = await b.acquire({ key, wait: TTL });
  const over = await movingDuring(key, async () => {
    await condition(b, signals).signal();
    await signals.release();
  });
  expect(await woken).toBe(true);
  expect(monotonic() - over).toBeLessThan(COMMAND_TIMEOUT);
  expect(await awaits.release()).toBe(true);
});

const KINDS: Readonly<Record<string, AcquireOptions & { share?: Share }>> = {
  alone: {},
  read: { share: READER },
  permit: { share: { permits: 1, count: 1 } },
  dialect: { dialect: 'redlock' },
};

/** So many leases of each of these kinds, on each primary. */
async function leasesOn(
  process: LockingProcess,
  count: number,
  kinds: readonly (keyof typeof KINDS)[] = Object.keys(KINDS),
): Promise<Lease[][]> {
  const acquire = async (primary: number, kind: string, at: number): Promise<Lease> => {
    const prefix = kind === 'dialect' ? '' : 'lock:';
    const key = keyOn(primary, prefix, `${keys}-${process.store.processId}-${kind}-${at}-`);
    return process.acquire({ key, ...KINDS[kind] });
  };
  return Promise.all(
    world.cluster.primaries.map((_, primary) =>
      Promise.all(
        kinds.flatMap((kind) =>
          Array.from({ length: count }, (_each, at) => acquire(primary, kind, at)),
        ),
      ),
    ),
  );
}

/** A name of which the lock lives on this primary. */
function keyOn(primary: number, prefix: string, name: string): string {
  const [first, next] = world.cluster.slotsOf(primary);
  for (let nth = 0; ; nth += 1) {
    const slot = slotOf(`${prefix}${name}${nth}`);
    if (slot >= first && slot < next && !moved.has(slot)) return `${name}${nth}`;
  }
}

const faults: Readonly<Record<string, Fault>> = {
  'one primary hangs and another is cut off': {
    lost: [0, 1],
    strike: async () => {
      world.cluster.primaries[0]!.signal('SIGSTOP');
      world.proxies[1]!.blackHole();
    },
    mend: async () => {
      world.cluster.primaries[0]!.signal('SIGCONT');
      world.proxies[1]!.heal();
    },
  },
  'a primary is killed': {
    lost: [2],
    strike: () => world.cluster.primaries[2]!.kill(),
    mend: () => world.cluster.primaries[2]!.run(),
  },
};

interface Fault {
  /** The primaries that do not answer. */
  readonly lost: readonly number[];
  readonly strike: () => Promise<void>;
  readonly mend: () => Promise<void>;
}

it.each(Object.entries(faults))(
  'when %s, no lease on the others is lost',
  async (_, { lost, strike, mend }) => {
    const options = { ttl: LEASE, commandTimeout: COMMAND_TIMEOUT };
    const plain = await world.member(options);
    const confirmed = await world.member({ ...options, replicas: { acks: 1, timeout: 500 } });
    const ofPlain = await leasesOn(plain, 30);
    const ofConfirmed = await leasesOn(confirmed, 30, ['alone', 'read', 'permit']);
    const on = (primary: number): Lease[] => [...ofPlain[primary]!, ...ofConfirmed[primary]!];
    const kept = [0, 1, 2].filter((primary) => !lost.includes(primary)).flatMap(on);
    const gone = lost.flatMap(on);
    expect(kept.length).toBeGreaterThanOrEqual(200);
    const reasons: unknown[] = [];
    for (const { signal } of kept)
      signal.addEventListener('abort', () => reasons.push(signal.reason));
    const struck = monotonic();
    await strike();
    try {
      const [survivor] = [0, 1, 2].filter((primary) => !lost.includes(primary));
      world.proxies[survivor!]!.reset(); // and after the reconnect all that is held is verified
      await until('the others are lost', () => gone.every(({ held }) => !held), 3 * LEASE);
      await until('more than a lease is over', () => monotonic() > struck + 1.2 * LEASE, 3 * LEASE);
      expect(reasons).toEqual([]);
      expect(kept.filter(({ held }) => !held)).toEqual([]);
      const { locks } = plain;
      const asked = monotonic();
      expect(await locks.inspect(kept[0]!.key, 1)).toMatchObject({ type: 'string' });
      expect(await locks.force(kept[0]!.key)).toBe(true);
      expect(await Promise.all(kept.slice(1).map((lease) => lease.release()))).not.toContain(false);
      expect(monotonic() - asked).toBeLessThan(plain.settings.commandTimeout);
      // A list without what lives on a node that does not answer would be none.
      const search = { pattern: '*', most: 1_000, mayBe: () => true };
      await expect(locks.names(search)).rejects.toThrow(LockStoreError);
    } finally {
      await mend();
    }
  },
);

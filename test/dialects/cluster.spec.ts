import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockNotAcquiredError, LockOptionsError } from '../../lib/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { patientClock } from './endless-pauses.js';
import { samples } from './samples.js';
import { PATIENT } from './sides.js';

let cluster: ClusterProcess;
beforeAll(async () => {
  cluster = await ClusterProcess.start();
});
afterAll(() => cluster.stop());

const tagged = ['{tenant}:k'];
const names = [...tagged, 'k', 'orders:7'];

describe.each(samples)('dialect %j in a Cluster', (dialect) => {
  it.each(dialect === 'python-redis-lock' ? tagged : names)(
    'keeps all keys of %s in one slot',
    async (name) => {
      const redis = { cluster: cluster.seeds };
      const [us, others] = [1, 2].map(() => new LockProcess({ redis, ...PATIENT, dialect })) as [
        LockProcess,
        LockProcess,
      ];
      try {
        const lease = await us.acquire(name);
        await expect(others.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
        const waiting = others.acquire(name);
        await lease.extend();
        await others.inspect(name);
        expect(await lease.release()).toBe(true);
        expect(await (await waiting).release()).toBe(true);
      } finally {
        await Promise.all([us.close(), others.close()]);
      }
    },
  );
});

it('who waits in a dialect behind a native holder has its turn before who came later', async () => {
  const redis = { cluster: cluster.seeds };
  const native = new LockProcess({ redis, ...PATIENT, keyPrefix: 'mutex:' });
  const speaking = new LockProcess({ redis, ...PATIENT, dialect: 'redis-semaphore' });
  try {
    const held = await native.acquire('hot');
    const waiting = speaking.acquire('hot', { wait: '1m' });
    await until('it queues', async () => (await native.inspect('hot')).waiting === 1);
    const later = native.acquire('hot', { wait: '1m' });
    await until('both queue', async () => (await native.inspect('hot')).waiting === 2);
    expect(await held.release()).toBe(true);
    const lease = await waiting;
    expect(lease.fencingToken).toBeGreaterThan(held.fencingToken);
    expect(await lease.release()).toBe(true);
    const last = await later;
    expect(last.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await last.release()).toBe(true);
  } finally {
    await Promise.all([native.close(), speaking.close()]);
  }
});

it('a dialect whose keys would be in two slots is refused before anything is done', async () => {
  const us = new LockProcess({
    redis: { cluster: cluster.seeds },
    ...PATIENT,
    dialect: 'python-redis-lock',
  });
  try {
    const { format } = us.settings.call;
    const lock = us.store;
    const steps = [us.acquire('k'), lock.force('k', format)];
    for (const step of await Promise.allSettled(steps)) {
      expect(step).toMatchObject({ status: 'rejected', reason: expect.any(LockOptionsError) });
      expect(step).toMatchObject({
        reason: { message: expect.stringContaining('"lock:k" and "lock-signal:k" in two slots') },
      });
    }
    for (const looked of [lock.inspect('k', 0), lock.inspect('k', 0, format)]) {
      expect(await looked).toMatchObject({ type: 'none' });
    }
  } finally {
    await us.close();
  }
});

it('who waits in a Cluster hears of a release, at whichever node', async () => {
  const options = { redis: { cluster: cluster.seeds }, ...PATIENT, dialect: 'redisson' } as const;
  const [us, others] = [
    new LockProcess(options, undefined, patientClock),
    new LockProcess(options),
  ];
  const nodes = cluster.seeds.map((seed) => new Redis(seed));
  const listening = async (): Promise<boolean> => {
    const counts = await Promise.all(
      nodes.map((node) => node.pubsub('NUMSUB', 'redisson_lock__channel:{k}')),
    );
    return counts.some(([, count]) => count === 1);
  };
  try {
    const lease = await others.acquire('k');
    const waiting = us.acquire('k');
    await until('we listen', listening);
    await lease.release();
    await (await waiting).release();
    let turns = 0;
    const rounds = async (): Promise<void> => {
      while (turns < 20) {
        const theirs = await others.acquire('k');
        const ours = us.acquire('k');
        await us.inspect('k'); // behind the ask
        await theirs.release();
        await (await ours).release();
        turns += 1;
      }
    };
    await Promise.race([rounds(), until('all turns are over', () => turns === 20)]);
  } finally {
    nodes.forEach((node) => node.disconnect());
    await Promise.all([us.close(), others.close()]);
  }
});

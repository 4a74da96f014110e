import { expect, it } from '@jest/globals';
import { ReplicasNotReachedError } from '../../lib/engine/errors/index.js';
import { fencedWrite } from '../support/fenced-store.js';
import { countTrials } from '../support/trials.js';
import { until } from '../support/until.js';
import { FailoverTrial } from './failover-trial.js';

const TRIALS = process.env['FULL'] ? 20 : 1;
/** Of a lease that nothing here may end, in ms: when the primary stands still, two thirds are left, longer than a failover takes. */
const LASTING = { ttl: 36_000 };

it(`between two primaries only who asked for no replicas believes the old one, ${TRIALS} times`, async () => {
  await countTrials(TRIALS, async () => {
    const trial = await FailoverTrial.start();
    try {
      await twoPrimaries(trial);
      return true;
    } finally {
      await trial.stop();
    }
  });
}, 600_000);

/**
 * A primary stands still until another is promoted, and comes back: for seconds there are two. Who knows the
 * Sentinels is moved; who only knows the old one, or has not heard of it yet, goes on there.
 */
async function twoPrimaries(trial: FailoverTrial): Promise<void> {
  const { group, resource } = trial;
  const first = group.servers[0]!;
  const acks = { replicas: { acks: 1, timeout: 500 } };
  const stock = trial.plain(group.source); // as ioredis does it
  const moved = await trial.client({ redis: group.source });
  const [left, confirmed] = await Promise.all([
    trial.client({ redis: first.url }),
    trial.client({ redis: first.url, ...acks }),
  ]);
  const [kept, robbed, alone, backed] = await Promise.all([
    moved.acquire('moved', LASTING),
    moved.acquire('robbed', LASTING),
    left.acquire('alone', LASTING),
    confirmed.acquire('backed'),
  ]);
  await stock.set('all', 'is replicated');
  expect(await stock.wait(2, 10_000)).toBe(2);

  first.signal('SIGSTOP');
  await until('another is promoted', async () => (await group.primary()) !== first.port, 20_000);
  const successor = await trial.client({ redis: group.source, ...acks });
  const promoted = trial.plain({ port: await group.primary() });
  // A replica that still followed the old one could confirm what the new one does not have: one ack of two is not all.
  await until('the other replica follows it', async () => {
    await promoted.set('all', 'is replicated');
    return (await promoted.wait(1, 1_000)) === 1;
  });
  first.signal('SIGCONT');
  const acquiring = { alone: successor.acquire('alone'), backed: successor.acquire('backed') };

  // The negative control: with ioredis’ defaults both get it.
  expect(await promoted.set('control', 'new', 'PX', 60_000, 'NX')).toBe('OK');
  expect(await stock.set('control', 'old', 'PX', 60_000, 'NX')).toBe('OK');
  // The same of ours, where one does not ask for replicas and does not know the Sentinels.
  const fresh = await successor.acquire('fresh');
  await until('it is connected', () => left.store.ready);
  const twice = await left.acquire('fresh');
  expect([fresh.held, twice.held]).toEqual([true, true]);
  // Who asks for replicas gets nothing from a primary that has none.
  await until('it is refused', () =>
    confirmed.acquire('other', { wait: 0 }).then(
      () => Promise.reject(new Error('It was granted.')),
      (error: unknown) => error instanceof ReplicasNotReachedError,
    ),
  );

  // Who knows the Sentinels was moved and still holds what was replicated.
  await until('it is verified', () => moved.store.ready);
  expect(await successor.locks.tryAcquire('moved', successor.settings.call)).toBeNull();
  expect(kept.held).toBe(true);

  // A lock that the failover lost: its holder learns it, and what it writes is refused.
  const { fencingToken: stale, signal } = robbed;
  await promoted.del('lock:robbed');
  const newer = await successor.acquire('robbed');
  await until('the loser learns it', () => signal.aborted);
  expect(['gone', 'taken']).toContain(signal.reason.reason); // not by the end of its lease
  const store = trial.plain({ port: resource.port });
  expect(await fencedWrite(store, 'robbed', newer.fencingToken, 'newer')).toBe(true);
  expect(await fencedWrite(store, 'robbed', stale, 'stale')).toBe(false);

  // What was held on the old one: renewed there by both, believed only by who asked for no replicas.
  await promoted.pexpire('lock:alone', 1); // as it would by itself
  expect((await acquiring.backed).held).toBe(true);
  expect(backed.held).toBe(false);
  expect((await acquiring.alone).held).toBe(true);
  expect(alone.held).toBe(true);
}

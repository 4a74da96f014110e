import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockOptionsError, QuorumNotReachedError } from '../../lib/engine/errors/index.js';
import { nodeTimeout } from '../../lib/engine/locks/quorum/ballot.js';
import { READER, NATIVE } from '../../lib/engine/options/index.js';
import { SOON } from '../support/bounds.js';
import { Observer } from '../support/observer.js';
import { Quorum } from '../support/quorum.js';
import { until } from '../support/until.js';
import type { LockingProcess } from '../support/world.js';
import { checkHistory, HistoryRecorder } from '../support/history.js';

let quorum: Quorum;
afterEach(() => quorum.stop());

describe('five servers', () => {
  beforeEach(async () => {
    quorum = await Quorum.of(5);
  });

  it('give a lock to one at a time, with tokens that grow', async () => {
    const [a, b] = [await quorum.process(), await quorum.process()];
    const first = await a.acquire();
    await expect(b.acquire({ wait: 0 })).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
    const waiting = b.acquire();
    await first.release();
    const second = await waiting;
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    await second.release();
  });

  it('two of which hang are not waited for', async () => {
    const process = await quorum.process();
    quorum.freeze(1, 3);
    expect(await medianAcquire(process, 100)).toBeLessThan(nodeTimeout(30_000, 2_000) / 2);
  });

  it('one of which hangs is sent no more than the commands of one time-out', async () => {
    const process = await quorum.process({ commandTimeout: 200 });
    const [hanging, other] = [new Observer(quorum.urls[0]!), new Observer(quorum.urls[1]!)];
    const clients = async () =>
      Number(/^connected_clients:(\d+)/m.exec(await hanging.redis.info('clients'))![1]);
    await hanging.redis.ping();
    quorum.freeze(0);
    const from = performance.now();
    while (performance.now() - from < 3_000) await (await process.acquire()).release();
    quorum.thaw();
    // Connections that were given up are closed there when all they were sent is read.
    await until('it has read what it was sent', async () => (await clients()) <= 3);
    const sent = await hanging.calls('evalsha', 'eval');
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan((await other.calls('evalsha', 'eval')) / 2);
    for (const observer of [hanging, other]) observer.close();
  });

  it('three of which hang fail with their votes, in the time of few commands', async () => {
    const process = await quorum.process({ commandTimeout: 500 });
    quorum.freeze(0, 2, 4);
    const from = performance.now();
    const failure = await process.acquire().catch((error: unknown) => error);
    expect(performance.now() - from).toBeLessThan(SOON);
    expect(failure).toBeInstanceOf(QuorumNotReachedError);
    expect(failure).toMatchObject({
      code: 'QUORUM_NOT_REACHED',
      votes: { nodes: 5, granted: 2, denied: 0, failed: 3 },
    });
    quorum.thaw();
    const lease = await process.acquire(); // nothing that was sent stays
    await lease.release();
  });

  it('renew what is held while any two hang, and tell its loss when three do', async () => {
    const process = await quorum.process();
    const lease = await process.acquire({ ttl: 4_000 });
    const { expiresAt } = lease;
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    quorum.freeze(0, 1);
    await until('the lease outlives its ttl', () => Date.now() > expiresAt);
    expect(lease.held).toBe(true);
    quorum.freeze(2);
    await lost;
    expect(lease.held).toBe(false);
  });

  it('keep the lock when one is killed and comes back empty', async () => {
    const [a, b] = [await quorum.process(), await quorum.process()];
    const lease = await a.acquire({ ttl: 10_000 });
    await quorum.servers[0]!.kill();
    await quorum.servers[0]!.run();
    await until('the rest keeps b out', async () => {
      const busy = await b.acquire({ wait: 0 }).catch((error: { code: string }) => error.code);
      return busy === 'LOCK_NOT_ACQUIRED';
    });
    expect(lease.held).toBe(true);
    await lease.release();
    await (await b.acquire({ wait: 5_000 })).release();
  });

  it('give tokens that grow across any majorities, also after 100 attempts that reach one node alone', async () => {
    const [ahead, process] = [await quorum.process(), await quorum.process()];
    ahead.clock.sleep(60_000);
    quorum.freeze(1, 2, 3, 4);
    for (let nth = 0; nth < 100; nth += 1) {
      const ask = {
        key: 'k',
        holder: `ahead/${nth}`,
        ttl: 200,
        tokenBlock: 1,
        format: NATIVE,
        queue: false,
      };
      const attempt = ahead.store.acquire({ ...ask, wanted: () => true });
      await expect(attempt).rejects.toBeInstanceOf(QuorumNotReachedError);
    }
    const lonely = new Observer(quorum.urls[0]!);
    const [fence] = await lonely.redis.keys('lock:{*}:fence');
    await lonely.redis.incrby(fence!, 60_000_000); // as if its clock were ahead, too
    lonely.close();
    quorum.thaw();
    const tokens: number[] = [];
    for (const away of [
      [3, 4],
      [0, 1],
      [2, 3],
      [0, 4],
    ]) {
      quorum.freeze(...away);
      const lease = await process.acquire({ ttl: 5_000, wait: 10_000 });
      tokens.push(lease.fencingToken);
      await lease.release();
      quorum.thaw();
    }
    expect(tokens[0]! / 1_000).toBeGreaterThan(Date.now() + 30_000); // the lonely node was heard
    expect(tokens).toEqual([...new Set(tokens)].sort((x, y) => x - y));
  });

  it('give tokens of a lock that grow, by clocks that differ and beside other locks of its slot, and keep no more than one key for these', async () => {
    const [ahead, behind] = [await quorum.process(), await quorum.process()];
    ahead.clock.sleep(3_000);
    const last = new Map<string, number>();
    for (let nth = 0; nth < 12; nth += 1) {
      const [process, key] = [nth % 2 ? ahead : behind, `{slot}${nth % 3}`];
      const lease = await process.acquire({ key, wait: 10_000 });
      expect(lease.fencingToken).toBeGreaterThan(last.get(key) ?? 0);
      last.set(key, lease.fencingToken);
      const { firstToken } = await behind.locks.inspect(key, 1);
      expect(firstToken).toBeLessThanOrEqual(lease.fencingToken);
      await lease.release();
    }
    for (const url of quorum.urls) {
      const observer = new Observer(url);
      const left = async (): Promise<string[]> => observer.redis.keys('*');
      await until('the votes were taken back', async () => (await left()).length <= 1);
      expect(await left()).toEqual([expect.stringMatching(/^lock:\{\d+\}:fence$/)]);
      observer.close();
    }
  });

  it('keep one history for 16 callers of four processes', async () => {
    const processes = await Promise.all([1, 2, 3, 4].map(() => quorum.process()));
    await compete(processes, { callers: 16, rounds: 20 });
  });

  it('keep one history for 16 callers who share nothing', async () => {
    const processes = await Promise.all([1, 2].map(() => quorum.process({ fairness: 'strict' })));
    await compete(processes, { callers: 16, rounds: 3 });
  });

  it.each([
    ['shared mode', { share: READER }],
    ['permits', { share: { permits: 3, count: 1 } }],
  ])('refuse %s', async (_what, options) => {
    const process = await quorum.process();
    await expect(process.acquire(options)).rejects.toBeInstanceOf(LockOptionsError);
  });
});

describe('two servers', () => {
  beforeEach(async () => {
    quorum = await Quorum.of(2);
  });

  it('give the lock to who asks once, when those who split the votes are gone', async () => {
    const process = await quorum.process({ commandTimeout: '60s' });
    for (const [at, url] of quorum.urls.entries()) {
      const { redis } = new Observer(url);
      await redis.set('lock:k', `contender ${at}/1/0`, 'PX', 2_000);
      redis.disconnect();
    }
    const lease = await process.acquire({ wait: 0 });
    expect(await lease.release()).toBe(true);
  });

  it('settle between two contenders, although they split the votes', async () => {
    const [a, b] = [
      await quorum.process({}, quorum.urls),
      await quorum.process({}, quorum.urls.reverse()),
    ];
    await compete([a, b], { callers: 2, rounds: 50 });
  });

  it('are refused if they are one', async () => {
    const [url] = quorum.urls as [string];
    await expect(quorum.process({}, [url, url.replace('127.0.0.1', 'localhost')])).rejects.toThrow(
      /lists one server twice/,
    );
  });
});

/** How long an uncontended acquisition takes at its median, in ms. */
async function medianAcquire(process: LockingProcess, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const from = performance.now();
    const lease = await process.acquire({ key: `own ${round}` });
    times.push(performance.now() - from);
    await lease.release();
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

/** Calls that each hold the lock once; their history, in which nobody waits in a queue. */
async function compete(
  processes: readonly LockingProcess[],
  { callers, rounds }: { callers: number; rounds: number },
): Promise<void> {
  const recorder = new HistoryRecorder();
  const caller = async (nth: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const work = () => new Promise<void>((resolve) => setImmediate(resolve));
      await recorder.run(processes[nth % processes.length]!, { wait: 20_000 }, work);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, nth) => caller(nth)));
  // Grants are told apart by their tokens: no store is watched here.
  const history = recorder.history.map((entry) => ({
    ...entry,
    holder: String(entry.fencingToken),
  }));
  checkHistory(history, { sections: callers * rounds });
}

import { beforeEach, describe, expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { LockSteps } from '../../lib/engine/locks/lock-steps.js';
import { FastPath } from '../../lib/engine/locks/lock/fast-path.js';
import { exclusive } from '../../lib/engine/locks/native-scripts.js';
import type { LockServer, ScriptRun } from '../../lib/engine/redis/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { ReplyingNode, serverAt } from './replying-node.js';

const request: LockRequest = {
  key: 'k',
  holder: 'me/1',
  ttl: 1_000,
  tokenBlock: 1,
  format: NATIVE,
  queue: true,
};

let clock: ManualClock;
let node: ReplyingNode;
let server: LockServer;
let steps: LockSteps;
let lock: ReturnType<typeof lockOf>;
/** The runs that reached the server. */
let ran: { script: string; notAfter: unknown; common: unknown }[];

beforeEach(() => {
  clock = new ManualClock();
  ran = [];
  node = new ReplyingNode(clock, note);
  node.way = 20;
  server = serverAt(node, clock);
  steps = new LockSteps(server, 'lock:', 64, () => {}, false);
  lock = lockOf(false);
});

describe('a lock that nobody else wants', () => {
  it('is taken and given back by one short script each', async () => {
    node.replies = [6_000_000, 1];
    const answer = await lock.acquire(request);
    expect(answer).toMatchObject({ kind: 'held', remaining: 1_000, fencingToken: 6_000_000 });
    expect(answer).toMatchObject({ sent: { monotonic: 0 } });
    expect(node.clock.serverTimeAt(20)).toBe(6_000);
    expect(await lock.release(request, 0)).toBe(true);
    expect(scripts()).toEqual(['acquireFree', 'releaseFree']);
  });

  it('is not taken too late; the clock of the server is known from then on', async () => {
    node.replies = [-6_000_000];
    expect(await lock.acquire(request)).toEqual({ kind: 'late' });
    expect(node.clock.serverTimeAt(20)).toBe(6_000);
  });

  it('is taken no later where the ask is sent on to another node', async () => {
    node.replies = [-6_000_000, 6_000_000];
    server.take = async (step) => {
      await node.run(step.on(node));
      return node.run(step.on(node));
    };
    expect(await lock.acquire(request)).toMatchObject({ kind: 'held', sent: { monotonic: 20 } });
    expect(ran.map(({ notAfter }) => notAfter)).toEqual([5_000_000, 5_000_000]);
  });

  it('that is lost is not given back', async () => {
    node.replies = [0];
    expect(await lock.release(request, 0)).toBe(false);
    expect(scripts()).toEqual(['releaseFree']);
  });

  it('is asked for together with others of the same ttl and tokens', async () => {
    node.replies = [6_000_000, 6_000_020, 6_000_040, 6_000_060];
    await lock.acquire(request);
    await lock.acquire({ ...request, key: 'k2', holder: 'me/2' });
    await lock.acquire({ ...request, key: 'k3', holder: 'me/3', ttl: 2_000 });
    await lock.acquire({
      ...request,
      key: 'k4',
      holder: 'me/4',
      ttl: 2_000,
      tokenBlock: 2,
      format: NATIVE,
    });
    const [first, second, third, fourth] = ran.map(({ common }) => common);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(fourth).not.toBe(third);
  });
});

const BUSY = ['busy', 0, 6_000_000, 0];

describe('a lock that others want', () => {
  it('is asked for again by the step itself, which may take effect no later', async () => {
    await clock.advance(100);
    node.replies = [0, BUSY];
    expect(await lock.acquire(request)).toMatchObject({ kind: 'busy' });
    expect(scripts()).toEqual(['acquireFree', 'acquire']);
    expect(ran.map(({ notAfter }) => notAfter)).toEqual([5_100_000, 5_100_000]);
  });

  it('is not asked for again by a caller that gave up meanwhile', async () => {
    node.replies = [0];
    let wanted = true;
    const answer = lock.acquire({ ...request, wanted: () => wanted });
    wanted = false;
    expect(await answer).toEqual({ kind: 'late' });
    expect(scripts()).toEqual(['acquireFree']);
  });

  it('is handed on by the step itself', async () => {
    node.replies = [-1, 1];
    expect(await lock.release(request, 0)).toBe(true);
    expect(scripts()).toEqual(['releaseFree', 'release']);
  });

  it.each([
    ['a short script said so', 0],
    ['the last answer said so', undefined],
  ])('costs no second round trip within a second after %s', async (_, first) => {
    node.replies = first === undefined ? [BUSY] : [first, BUSY];
    await lock.acquire(first === undefined ? { ...request, enqueuedAt: '1' } : request);
    ran = [];
    for (let nth = 0; nth < 100; nth += 1) {
      node.replies = [BUSY, 1];
      await lock.acquire(request);
      await lock.release(request, 0);
    }
    expect(ran).toHaveLength(200);
    expect(new Set(scripts())).toEqual(new Set(['acquire', 'release']));
    await clock.advance(1_000);
    node.replies = [6_000_000];
    await lock.acquire(request);
    expect(scripts().at(-1)).toBe('acquireFree');
  });
});

describe('the step itself comes first', () => {
  it.each<[string, Partial<LockRequest>]>([
    ['gives a lease back', { former: request }],
    ['repeats an earlier one', { enqueuedAt: '17' }],
    ['is of another process', { holder: 'other/1' }],
  ])('for an ask that %s', async (_, more) => {
    node.replies = [6_000_000];
    await lock.acquire({ ...request, ...more });
    expect(scripts()).toEqual(['acquire']);
  });

  it('for an ask that replicas confirm', async () => {
    node.replies = [6_000_000, 1];
    await lockOf(true).acquire(request);
    await lockOf(true).release(request, 0);
    expect(scripts()).toEqual(['acquire', 'releaseFree']);
  });

  it.each<[string, () => Promise<boolean>]>([
    ['keeps the lock for a while', () => lock.release(request, 5)],
    ['tells of those that were served', () => lock.release(request, 0, [request])],
    ['is of who had to queue', () => lock.release({ ...request, enqueuedAt: '17' }, 0)],
    ['is of another process', () => lock.release({ ...request, holder: 'other/1' }, 0)],
  ])('for a release that %s', async (_, release) => {
    node.replies = [1];
    await release();
    expect(scripts()).toEqual(['release']);
  });
});

/** The lock by the short way where there is one, as the store takes it. */
function lockOf(confirmed: boolean) {
  const free = new FastPath(steps, 'me', confirmed);
  return {
    acquire: (asked: LockRequest) => server.take(free.acquire(asked) ?? steps.acquire(asked)),
    release: (asked: LockRequest, keep: number, served?: readonly LockRequest[]) =>
      server.take(free.release(asked, keep, served) ?? steps.release(asked, keep, served)),
  };
}

function note({ script, args, notAfter, common }: ScriptRun<unknown>): void {
  const [name] = Object.entries(exclusive).find(([, each]) => each === script)!;
  ran.push({ script: name, notAfter: notAfter ?? args[script.args.indexOf('not_after')], common });
}

function scripts(): string[] {
  return ran.map(({ script }) => script);
}

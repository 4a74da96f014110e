import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockSteps } from '../../lib/engine/locks/lock-steps.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { LockServer, ScriptRun, Step } from '../../lib/engine/redis/index.js';
import { momentOf, NATIVE, READER } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { ReplyingNode, serverAt, UNREACHED } from './replying-node.js';

const request: LockRequest = { key: 'k', holder: 'me', ttl: 1_000, tokenBlock: 1, format: NATIVE };
const ask: LockRequest = { ...request, queue: true, wanted: () => true };
const successor: LockRequest = { ...request, holder: 'successor', ttl: 700 };

let clock: ManualClock;
let node: ReplyingNode;
let server: LockServer;
let steps: LockSteps;
let told: string[];
/** The operands of each run, by their names. */
let ran: Record<string, unknown>[];

beforeEach(() => {
  clock = new ManualClock();
  [told, ran] = [[], []];
  node = new ReplyingNode(clock, (run) => ran.push(operandsOf(run)));
  server = serverAt(node, clock);
  const heard = (text: string): void => void told.push(text);
  steps = new LockSteps(server, 'lock:', 64, heard, false);
});

describe('an extension', () => {
  it('counts from the moment it was sent, not from that at which its answer was read', async () => {
    node.way = 300;
    node.replies = [[1_000]];
    const { sent, remaining } = await server.take(steps.extend([request]));
    expect([sent.monotonic, remaining]).toEqual([0, [1_000]]);
    expect(clock.monotonic()).toBe(300);
  });

  it('counts from its last sending where it had to go to another node', async () => {
    node.way = 50;
    node.replies = [[1_000], [900]];
    server.take = async (step) => {
      await node.run(step.on(node));
      return node.run(step.on(node));
    };
    const { sent, remaining } = await server.take(steps.extend([request]));
    expect([sent.monotonic, remaining]).toEqual([50, [900]]);
  });

  it('says of each lease how much is left, or where it went', async () => {
    node.replies = [[1_000, -2, -3, 0]];
    const requests = ['a', 'b', 'c', 'd'].map((key) => ({ ...request, key }));
    const { remaining } = await server.take(steps.extend(requests));
    expect(remaining).toEqual([1_000, 'free', 'taken', 0]);
  });

  it('that replicas do not have is not known, and what is lost is lost', async () => {
    node.confirmed = false;
    node.replies = [[1_000, -2, -3, 1_000]];
    const requests = ['a', 'b', 'c', 'd'].map((key) => ({ ...request, key }));
    const { remaining } = await server.take(steps.extend(requests));
    expect(remaining).toEqual(['unknown', 'free', 'taken', 'unknown']);
  });

  it('of readers and permits is one command, in which a reader has no count', async () => {
    const permits = { ...request, key: 'l', share: { permits: 5, count: 3 } };
    const leases = [{ ...request, share: READER }, permits];
    expect(steps.batches(leases)).toEqual([[0, 1]]);
    const step = steps.extend(leases);
    expect(step.on(node).args).toEqual(['me', 'me', '', 3, 1_000]);
    node.replies = [[1_000, -2]];
    expect((await server.take(step)).remaining).toEqual([1_000, 'free']);
  });

  it('of which replicas have nothing fails', async () => {
    node.confirmed = false;
    node.replies = [[1_000, 1_000]];
    const extended = server.take(steps.extend([request, { ...request, key: 'other' }]));
    await expect(extended).rejects.toBe(UNREACHED);
  });
});

describe('an ask', () => {
  it('is dated when it is sent; the lease it brings counts from there', async () => {
    await clock.advance(40);
    node.way = 300;
    node.replies = [6_000_000];
    const answer = await server.take(steps.acquire(ask));
    expect(ran[0]).toMatchObject({ holder: 'me', ttl: 1_000, tokens: 1, not_after: 5_040_000 });
    expect(answer).toMatchObject({ kind: 'held', remaining: 1_000, fencingToken: 6_000_000 });
    expect(answer).toMatchObject({ sent: { monotonic: 40 } });
  });

  it('that is sent on to another node takes effect no later than at the first', async () => {
    node.way = 50;
    node.replies = [['late', 0, 6_000_000, 0], 6_000_000];
    server.take = async (step) => {
      await node.run(step.on(node));
      return node.run(step.on(node));
    };
    const answer = await server.take(steps.acquire(ask));
    expect(ran.map(({ not_after }) => not_after)).toEqual([5_000_000, 5_000_000]);
    expect(answer).toMatchObject({ sent: { monotonic: 50 } });
  });

  it.each<[string, unknown]>([
    ['one number', 6_000_000],
    ['more', ['queued', 500, 6_000_000, 0, '17', 0, 0]],
  ])('learns the clock of the server from an answer of %s', async (_, reply) => {
    node.way = 300;
    node.replies = [reply];
    await server.take(steps.acquire(ask));
    expect(node.clock.serverTimeAt(300)).toBe(6_000);
    expect(node.clock.momentAt(6_000, { monotonic: 300, wall: clock.wall() })).toMatchObject({
      monotonic: 0,
    });
  });

  it('comes into a queue up to its limit, and into none when it does not want to wait', async () => {
    node.replies = [6_000_000, 6_000_001];
    await server.take(steps.acquire(ask));
    await server.take(steps.acquire({ ...ask, queue: false }));
    expect(ran.map(({ limit }) => limit)).toEqual([64, 0]);
  });

  it('that replicas do not have is no grant; of what is none they are not asked', async () => {
    node.confirmed = false;
    node.replies = [6_000_000, ['queued', 500, 6_000_000, 0, '17', 0, 0]];
    await expect(server.take(steps.acquire(ask))).rejects.toBe(UNREACHED);
    await expect(server.take(steps.acquire(ask))).resolves.toMatchObject({
      kind: 'queued',
      enqueuedAt: '17',
    });
  });
});

describe('a release', () => {
  it.each([
    [1, true],
    [0, false],
  ])('that is answered %d gave something back: %s', async (reply, gaveBack) => {
    node.replies = [reply];
    expect(await server.take(steps.release(request, 0))).toBe(gaveBack);
    expect(told).toEqual([]);
  });

  it('tells who comes next in this process before it is over', async () => {
    node.replies = [['granted a', 'kept 0 k']];
    const released = server.take(steps.release(request, 0));
    let tells = 0;
    void released.then(() => (tells = told.length));
    expect(await released).toBe(true);
    expect([told, tells]).toEqual([['granted a', 'kept 0 k'], 2]);
  });
});

describe('a hand-over', () => {
  it('counts from the moment it was sent', async () => {
    node.way = 300;
    node.replies = [700];
    const { sent, remaining } = await steps.transfer(request, successor);
    expect([sent.monotonic, remaining]).toEqual([0, 700]);
    expect(ran).toEqual([{ holder: 'me', successor: 'successor', ttl: 700, not_after: 5_000_000 }]);
  });

  it('that came too late is sent once more, dated anew, with the clock that the answer told', async () => {
    node.way = 300;
    node.replies = [['late', 9_000_000], 700];
    const { sent, remaining } = await steps.transfer(request, successor);
    expect([sent.monotonic, remaining]).toEqual([300, 700]);
    expect(ran.map(({ not_after }) => not_after)).toEqual([5_000_000, 5_300_000]);
    expect(node.clock.serverTimeAt(300)).toBe(9_000);
  });

  it('that came too late twice did not happen', async () => {
    node.replies = [['late', 9_000_000], ['late', 9_000_000], 700];
    const late = steps.transfer(request, successor);
    await expect(late).rejects.toMatchObject({ key: 'k', outcome: 'unsent', retryable: true });
    expect(ran).toHaveLength(2);
  });

  it.each([
    [-2, 'free'],
    [-3, 'taken'],
  ])('of what is not held any more says so, also without replicas', async (reply, where) => {
    for (node.confirmed of [true, false]) {
      node.replies = [reply];
      const { remaining } = await steps.transfer(request, successor);
      expect(remaining).toBe(where);
    }
  });

  it('that replicas do not have fails', async () => {
    node.confirmed = false;
    node.replies = [0];
    await expect(steps.transfer(request, successor)).rejects.toBe(UNREACHED);
  });
});

const NOW = 1_790_000_000_000;
/** What other steps answer, what nothing does, numbers that are no clock, and a word that no step says. */
const WORD = ['OK', 0, NOW * 1_000];
const GARBAGE = [1, 0, -1, 2, 30_000, null, '', [], [1_000, 1_000], [-2], ['OK'], 'OK', WORD];

it.each([
  ['a question', () => steps.acquire(ask), GARBAGE],
  ['a release', () => steps.release(request, 0), [2, 30_000, 1e15, null, '', 'OK']],
  ['a leave', () => steps.leave(request), [2, 1e15, null, '', 'OK', []]],
  ['an extension', () => steps.extend([request]), [0, 2, 1e15, null, '', [], [1, 1], [null]]],
] as const)('what is no answer to %s is taken for none', async (_, step, replied) => {
  node.clock.learn(momentOf(clock), 0, NOW);
  for (const reply of replied) {
    node.replies = [reply];
    await expect(server.take(step() as Step<unknown>)).rejects.toThrow(TypeError);
  }
});

function operandsOf({ script, args }: ScriptRun<unknown>): Record<string, unknown> {
  return Object.fromEntries(args.map((arg, at) => [script.args[at % script.args.length]!, arg]));
}

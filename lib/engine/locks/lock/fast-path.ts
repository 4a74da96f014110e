import { type Moment, momentOf } from '../../options/index.js';
import {
  baseOf,
  CommonOperands,
  fenceKey,
  KeyList,
  type ScriptRun,
  type Step,
} from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';
import { isOne, type LockSteps } from '../lock-steps.js';
import type { Answer } from '../lock-store.js';
import { exclusive } from '../native-scripts.js';
import type { AcquireReply } from '../reply.js';

/**
 * The fast path of uncontended locks, which are most: scripts that do no more than such a lock needs. If more is to be done,
 * they change nothing, and the full script follows. So the path is for keys at which no other caller was met lately.
 */
export class FastPath {
  /** The operands that the last asks had in common. */
  #asks: CommonAsk | undefined;
  readonly #releases: CommonOperands;

  constructor(
    private readonly steps: LockSteps,
    /** The name of this process in the ids of its holders. */
    private readonly processId: string,
    /** Whether replicas confirm each grant: they confirm a step only once. */
    private readonly confirmed: boolean,
  ) {
    this.#releases = new CommonOperands([], [processId]);
  }

  /** The step on the fast path; undefined if the full script should be sent at once. */
  acquire(request: LockRequest): Step<Answer> | undefined {
    if (this.confirmed || request.former || !this.#isAlone(request)) return undefined;
    const { steps } = this;
    const { key, holder, wanted } = request;
    const lock = steps.prefix + key;
    const keys = keysOf(lock, BESIDE);
    let asked: Moment | undefined;
    return {
      redisKey: lock,
      key,
      wanted,
      on: (node) => {
        const sent = momentOf(steps.server.time);
        asked ??= sent; // another node that gets the step later takes the lock no later
        return {
          script: exclusive.acquireFree,
          keys,
          args: [idOf(holder)],
          common: this.#commonOf(lock, request),
          notAfter: node.notAfter(asked.monotonic),
          key,
          sentAt: sent.monotonic,
          wanted,
          read: (reply, receivedAt) => {
            if (reply !== 0) {
              return steps.read(reply as AcquireReply, request, node, sent, receivedAt);
            }
            steps.contended.add(key, receivedAt);
            if (wanted?.() === false) return { kind: 'late' };
            return steps.server.take(steps.acquire(request, asked));
          },
        };
      },
    };
  }

  /** As {@link acquire}. A holder that had to queue takes the full script, since other waiters may have come behind it. */
  release(request: LockRequest, minHoldRest: number, served: unknown): Step<boolean> | undefined {
    if (minHoldRest !== 0 || served || !this.#isAlone(request)) return undefined;
    const { steps } = this;
    const { key, holder } = request;
    const lock = steps.prefix + key;
    const keys = keysOf(lock, QUEUE);
    const run: ScriptRun<boolean> = {
      script: exclusive.releaseFree,
      keys,
      args: [idOf(holder)],
      common: this.#releases,
      key,
      read: (reply, receivedAt) => {
        if (reply !== -1) return isOne(reply);
        steps.contended.add(key, receivedAt);
        return steps.server.take(steps.release(request, 0));
      },
    };
    return { redisKey: lock, key, on: () => run };
  }

  /** Returns the same object for asks that may be merged into one script. */
  #commonOf(lock: string, { ttl, tokenBlock: tokens }: LockRequest): CommonOperands {
    const { server, prefix } = this.steps;
    const tag = server.fenceTagOf(lock);
    const last = this.#asks;
    if (last && last.ttl === ttl && last.tokens === tokens && last.tag === tag) {
      return last.operands;
    }
    const operands = new CommonOperands([fenceKey(prefix, tag)], [ttl, tokens, this.processId]);
    this.#asks = { ttl, tokens, tag, operands };
    return operands;
  }

  /** True for an exclusive request of this process that did not queue, on a key without contention lately. */
  #isAlone({ key, holder, enqueuedAt, share, condition }: LockRequest): boolean {
    if (share || condition) return false;
    const { contended, server } = this.steps;
    const isOurs = enqueuedAt === undefined && holder.startsWith(this.processId);
    return isOurs && !contended.has(key, server.time);
  }
}

interface CommonAsk {
  readonly ttl: number;
  readonly tokens: number;
  /** The tag of the fence's key. */
  readonly tag: string;
  readonly operands: CommonOperands;
}

/** The scripts' names of further keys: those that a free lock lacks, and the one that shows waiters. */
const BESIDE = ['queue', 'version'];
const QUEUE = ['queue'];

/** The lock's own key, and those beside it. */
function keysOf(lock: string, beside: readonly string[]): KeyList {
  const base = baseOf(lock);
  const keys = [lock];
  for (const name of beside) keys.push(`${base}:${name}`);
  return new KeyList(keys);
}

/** The part of a holder's id behind the name of its process. */
function idOf(holder: string): string {
  return holder.slice(holder.indexOf('/') + 1);
}

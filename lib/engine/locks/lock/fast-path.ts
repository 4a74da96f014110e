import { type Moment, momentOf } from '../../options/index.js';
import {
  baseOf,
  CommonOperands,
  fenceKey,
  KeyList,
  type MergedScript,
  type ScriptRun,
  type Step,
  type StepNode,
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
    readonly steps: LockSteps,
    /** The name of this process in the ids of its holders. */
    private readonly processId: string,
    /** Whether replicas confirm each grant: they confirm a step only once. */
    private readonly confirmed: boolean,
  ) {
    this.#releases = new CommonOperands([], [processId]);
  }

  /** The step on the fast path; undefined if the full script should be sent at once. */
  acquire(request: LockRequest): Step<Answer> | undefined {
    const simple = !this.confirmed && !request.former && this.#isAlone(request);
    return simple ? new FreeAcquire(this, request) : undefined;
  }

  /** As {@link acquire}. A holder that had to queue takes the full script, since other waiters may have come behind it. */
  release(request: LockRequest, minHoldRest: number, served: unknown): Step<boolean> | undefined {
    const simple = minHoldRest === 0 && !served && this.#isAlone(request);
    return simple ? new FreeRelease(this.steps, request, this.#releases) : undefined;
  }

  /** Returns the same object for asks that may be merged into one script. */
  commonOf(lock: string, { ttl, tokenBlock: tokens }: LockRequest): CommonOperands {
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

/** A step on a lock that is probably free. It is its own script run, so that a call makes only one object. */
abstract class FreeStep<Answer> implements Step<Answer>, ScriptRun<Answer> {
  abstract readonly script: MergedScript;
  abstract readonly common: CommonOperands;
  /** The lock's own key, and those beside it. */
  readonly keys: KeyList;

  constructor(
    protected readonly steps: LockSteps,
    protected readonly request: LockRequest,
    beside: readonly string[],
  ) {
    const lock = steps.prefix + request.key;
    const base = baseOf(lock);
    this.keys = new KeyList([lock, ...beside.map((name) => `${base}:${name}`)]);
  }

  get redisKey(): string {
    return this.keys.keys[0]!;
  }

  get key(): string {
    return this.request.key;
  }

  /** The part of the holder's id behind the name of the process. */
  get args(): string[] {
    const { holder } = this.request;
    return [holder.slice(holder.indexOf('/') + 1)];
  }

  on(_node: StepNode): this {
    return this;
  }

  abstract read(reply: unknown, receivedAt: number): Answer | Promise<Answer>;
}

/** Takes a free lock. */
class FreeAcquire extends FreeStep<Answer> {
  notAfter = 0;
  common!: CommonOperands;
  private node!: StepNode;
  private sent!: Moment;
  /** When the step was first sent: another node that gets it later takes the lock no later. */
  private asked: Moment | undefined;

  constructor(
    private readonly locks: FastPath,
    request: LockRequest,
  ) {
    super(locks.steps, request, BESIDE);
  }

  get script(): MergedScript {
    return exclusive.acquireFree;
  }

  get wanted(): (() => boolean) | undefined {
    return this.request.wanted;
  }

  get sentAt(): number {
    return this.sent.monotonic;
  }

  override on(node: StepNode): this {
    this.node = node;
    this.sent = momentOf(this.steps.server.time);
    this.asked ??= this.sent;
    this.notAfter = node.notAfter(this.asked.monotonic);
    this.common = this.locks.commonOf(this.redisKey, this.request);
    return this;
  }

  read(reply: unknown, receivedAt: number): Answer | Promise<Answer> {
    const { steps, node, request, sent } = this;
    if (reply !== 0) return steps.read(reply as AcquireReply, request, node, sent, receivedAt);
    steps.contended.add(request.key, receivedAt);
    if (request.wanted?.() === false) return { kind: 'late' };
    return steps.server.take(steps.acquire(request, this.asked));
  }
}

/** Releases a lock without waiters. */
class FreeRelease extends FreeStep<boolean> {
  constructor(
    steps: LockSteps,
    request: LockRequest,
    readonly common: CommonOperands,
  ) {
    super(steps, request, QUEUE);
  }

  get script(): MergedScript {
    return exclusive.releaseFree;
  }

  read(reply: unknown, receivedAt: number): boolean | Promise<boolean> {
    if (reply !== -1) return isOne(reply);
    const { steps, request } = this;
    steps.contended.add(request.key, receivedAt);
    return steps.server.take(steps.release(request, 0));
  }
}

import {
  CommonOperands,
  type JointScript,
  LockKeys,
  type ScriptRun,
  type Step,
  type StepNode,
} from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';
import type { LockSteps } from '../lock-steps.js';
import { exclusive } from '../native-scripts.js';

/**
 * The short way of locks that nobody else wants, which are most: scripts that do no more than such a lock needs. They change
 * nothing where more is to be done, and the full script follows. So they are for keys at which no other caller was met lately.
 */
export class FreeLocks {
  readonly #releases: CommonOperands;

  constructor(
    readonly steps: LockSteps,
    /** The name of this process in the ids of its holders. */
    private readonly processId: string,
  ) {
    this.#releases = new CommonOperands([], [processId]);
  }

  /** Undefined where the full script is to be sent at once: also by who had to queue, since others may have come behind it. */
  release(request: LockRequest, keep: number, served: unknown): Step<boolean> | undefined {
    const { holder, enqueuedAt } = request;
    const simple =
      keep === 0 && !served && enqueuedAt === undefined && holder.startsWith(this.processId);
    return simple && this.#isAlone(request.key)
      ? new FreeRelease(this.steps, request, this.#releases)
      : undefined;
  }

  #isAlone(key: string): boolean {
    const { contended, server } = this.steps;
    return !contended.has(key, server.time);
  }
}

/** What the script calls the key that says who waits. */
const QUEUE = ['queue'];

/** A step on a lock that is probably free: a run of its script by itself, so that a call makes one object. */
abstract class FreeStep<Answer> implements Step<Answer>, ScriptRun<Answer> {
  abstract readonly script: JointScript;
  abstract readonly common: CommonOperands;
  readonly keys: LockKeys;

  constructor(
    protected readonly steps: LockSteps,
    protected readonly request: LockRequest,
    beside: readonly string[],
  ) {
    this.keys = new LockKeys(steps.prefix + request.key, beside);
  }

  get redisKey(): string {
    return this.keys.lock;
  }

  get key(): string {
    return this.request.key;
  }

  /** Of the holder's id what stands behind the name of the process. */
  get args(): string[] {
    const { holder } = this.request;
    return [holder.slice(holder.indexOf('/') + 1)];
  }

  on(_node: StepNode): this {
    return this;
  }

  abstract read(reply: unknown, receivedAt: number): Answer | Promise<Answer>;
}

/** Gives the lock back if nobody waits for it. */
class FreeRelease extends FreeStep<boolean> {
  constructor(
    steps: LockSteps,
    request: LockRequest,
    readonly common: CommonOperands,
  ) {
    super(steps, request, QUEUE);
  }

  get script(): JointScript {
    return exclusive.releaseFree;
  }

  read(reply: unknown, receivedAt: number): boolean | Promise<boolean> {
    if (reply !== -1) return reply === 1;
    const { steps, request } = this;
    steps.contended.add(request.key, receivedAt);
    return steps.server.take(steps.release(exclusive.release, request, 0));
  }
}

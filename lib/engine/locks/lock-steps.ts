import { LockStoreError } from '../errors/index.js';
import { isReader, type Moment, momentOf } from '../options/index.js';
import { TAKE_OVER_PAUSE } from '../protocol/constants.js';
import {
  type KeyList,
  LockKeyLists,
  type LockServer,
  type LuaScript,
  type Operands,
  type Step,
  type StepNode,
} from '../redis/index.js';
import { batchesOf, LARGEST_BATCH } from './batches.js';
import { ContendedKeys } from './contended-keys.js';
import { entryOf } from './entry.js';
import { extendArgs, leftOf } from './extension.js';
import { besideTimestamps } from './timestamp-compat/timestamp-compat.js';
import type { LockRequest } from './lock-request.js';
import type { Answer, Extension, Transferred } from './lock-store.js';
import { conditions, exclusive, scriptsOf } from './native-scripts.js';
import { type AcquireReply, answerOf, extendedOf, noReply } from './reply.js';
import { unlessGone, unlessHeld, unlessLost } from './unconfirmed.js';

/** The most shared leases in one extend: one lease of many permits takes Redis up to four times as long as a lock. */
const LARGEST_SHARED_BATCH = 128;

/**
 * The steps of native locks on one server: chooses the keys, sets the time after which a step is too late, and reads the
 * replies. A script takes those of the operands that it declares.
 */
export class LockSteps {
  /** The keys at which other callers were met. */
  readonly contended = new ContendedKeys();
  readonly #keyLists: LockKeyLists;
  /** The steps that renew the same leases again and again. */
  readonly #extensions = new WeakMap<readonly LockRequest[], Step<Extension>>();

  constructor(
    readonly server: LockServer,
    readonly prefix: string,
    private readonly waitersPerKey: number,
    /** Receives grants that come with a reply, as if they came to the inbox. */
    private readonly onMessage: (message: string) => void,
    /** Clients of the SETNX articles use the locks too. */
    private readonly timestampCompat: boolean,
  ) {
    this.#keyLists = new LockKeyLists(prefix, (lock) => server.fenceTagOf(lock));
  }

  /** When a lease beside clients of the SETNX articles is renewed for the first time, in ms: until then, a client that lost a take-over may overwrite it. */
  get renewIn(): number | undefined {
    return this.timestampCompat ? TAKE_OVER_PAUSE : undefined;
  }

  /** Runs a step that needs only its operands. */
  run<Result>(
    script: LuaScript,
    key: string,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const inbox = this.server.inboxPrefix;
    return this.server.take(this.#step(script, key, { ...operands, inbox }, read));
  }

  /**
   * A caller that awaits a condition begins to, if a former lease is given back in the same step; else it asks.
   * `asked`: when the caller asked, if a shorter step went before. The ask may take effect no later than that one.
   */
  acquire(request: LockRequest, asked?: Moment): Step<Answer> {
    const { key, holder, ttl, tokenBlock: tokens, share, condition } = request;
    const { queue, maxWaiting = Infinity, enqueuedAt: arrival, former, wanted } = request;
    const awaiting = former ? conditions.await : conditions.ask;
    const script = condition ? awaiting : scriptsOf(request).acquire;
    const { step, keys, redisKey } = this.#on(script, key);
    return {
      redisKey,
      key,
      wanted,
      on: (node) => {
        const sent = momentOf(this.server.time);
        asked ??= sent; // the deadline counts from the first sending, also if another node gets the step later
        const operands = {
          holder,
          ttl,
          tokens,
          not_after: node.notAfter(asked.monotonic),
          inbox: this.server.inboxPrefix,
          limit: queue ? Math.min(this.waitersPerKey, maxWaiting) : 0,
          arrival,
          former: former?.holder,
          timestamp_compat: this.timestampCompat ? 1 : undefined,
          kind: kindOf(request),
          permits: isReader(share) ? 0 : share?.permits,
          count: share?.count,
          condition: condition?.name,
          over: condition?.over ? 1 : 0,
        };
        return {
          script: step,
          keys,
          args: step.argList(operands),
          key,
          sentAt: sent.monotonic,
          wanted,
          unconfirmed: unlessHeld,
          read: (reply, receivedAt) =>
            this.read(reply as AcquireReply, request, node, sent, receivedAt),
        };
      },
    };
  }

  /** Reads the reply to an ask that was sent to `node` at `sent`. */
  read(
    reply: AcquireReply,
    request: LockRequest,
    node: StepNode,
    sent: Moment,
    receivedAt: number,
  ): Answer {
    const now = typeof reply === 'number' ? Math.abs(reply) : reply[2];
    node.clock.learn(sent, receivedAt, now / 1_000);
    const answer = answerOf(reply, request, sent, this.renewIn);
    if (answer.kind !== 'held' && answer.kind !== 'late') {
      this.contended.add(request.key, receivedAt);
    }
    return answer;
  }

  /** The step resolves to true if the lock was the holder's. The next holder, if it waits in this process, has been told before. */
  release(
    request: LockRequest,
    minHoldRest: number,
    served?: readonly LockRequest[],
  ): Step<boolean> {
    const operands = {
      holder: request.holder,
      inbox: this.server.inboxPrefix,
      kind: kindOf(request),
      count: request.share?.count,
      keep: minHoldRest > 0 ? Math.ceil(minHoldRest) : undefined,
      served: served?.map(entryOf).join(' '),
    };
    return this.#step(scriptsOf(request).release, request.key, operands, (reply) => {
      if (!Array.isArray(reply)) return isOne(reply);
      for (const grant of reply as string[]) this.onMessage(grant);
      return true;
    });
  }

  /** The step resolves to true if the lock was the leaver's. */
  leave(request: LockRequest, served: readonly LockRequest[] = []): Step<boolean> {
    const { key, holder, ttl, tokenBlock: tokens, share, condition } = request;
    const operands = {
      holder,
      ttl,
      tokens,
      inbox: this.server.inboxPrefix,
      kind: kindOf(request),
      count: share?.count,
      entries: [request, ...served].map(entryOf).join(' '),
      condition: condition?.name,
      unsignalled: condition?.signalled === false ? 1 : undefined,
    };
    const { leave } = condition ? conditions : scriptsOf(request);
    return this.#step(leave, key, operands, isOne);
  }

  /** Groups leases of one kind into batches of one slot. */
  batches(requests: readonly LockRequest[]): number[][] {
    const largest = requests[0]?.share ? LARGEST_SHARED_BATCH : LARGEST_BATCH;
    return batchesOf(requests, ({ key }) => this.server.slotOf(this.prefix + key), largest);
  }

  /** Lengthens the leases of one batch. The step of a list is kept, so that its operands are encoded once. */
  extend(requests: readonly LockRequest[]): Step<Extension> {
    let step = this.#extensions.get(requests);
    if (!step) this.#extensions.set(requests, (step = this.#extend(requests)));
    return step;
  }

  #extend(requests: readonly LockRequest[]): Step<Extension> {
    const step = this.#script(scriptsOf(requests[0]!).extend);
    const keys = this.#keyLists.ofAll(step.keys, requests);
    const args = extendArgs(step, requests);
    const asked = requests.map(({ ttl }) => ttl);
    const key = requests.length === 1 ? requests[0]!.key : undefined;
    return {
      redisKey: keys.keys[0]!,
      key,
      on: () => {
        const sent = momentOf(this.server.time);
        return {
          script: step,
          keys,
          args,
          key,
          read: (reply) => ({
            sent,
            remaining: leftOf(reply, asked).map(extendedOf),
          }),
          unconfirmed: unlessLost,
        };
      },
    };
  }

  /** @throws LockStoreError if the step came too late: nothing happened then. */
  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    const transfer = this.#transfer(request, successor);
    let answer = await this.server.take(transfer);
    // After a sleep, the server's clock is ahead of our estimate, until it answers.
    if (answer === 'late') answer = await this.server.take(transfer);
    if (answer !== 'late') return answer;
    const { key } = request;
    throw new LockStoreError(`Lock "${key}" was handed on too late.`, { key, outcome: 'unsent' });
  }

  #transfer({ key, holder }: LockRequest, successor: LockRequest): Step<Transferred | 'late'> {
    const { step, keys, redisKey } = this.#on(exclusive.transfer, key);
    return {
      redisKey,
      key,
      on: (node) => {
        const sent = momentOf(this.server.time);
        const not_after = node.notAfter(sent.monotonic);
        return {
          script: step,
          keys,
          args: step.argList({
            holder,
            successor: successor.holder,
            ttl: successor.ttl,
            not_after,
          }),
          key,
          unconfirmed: unlessGone,
          read: (reply, receivedAt) => {
            if (typeof reply === 'number') {
              return { sent, remaining: extendedOf(reply), renewIn: this.renewIn };
            }
            const [, now] = reply as [late: number, now: number];
            node.clock.learn(sent, receivedAt, now / 1_000);
            return 'late';
          },
        };
      },
    };
  }

  #step<Result>(
    script: LuaScript,
    key: string,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Step<Result> {
    const { step, keys, redisKey } = this.#on(script, key);
    const run = { script: step, keys, args: step.argList(operands), key, read };
    return { redisKey, key, on: () => run };
  }

  #script(script: LuaScript): LuaScript {
    return this.timestampCompat ? besideTimestamps(script) : script;
  }

  #on(script: LuaScript, key: string): { step: LuaScript; keys: KeyList; redisKey: string } {
    const step = this.#script(script);
    const keys = this.#keyLists.of(step.keys, key);
    return { step, keys, redisKey: keys.keys[0]! };
  }
}

/** The kind of a shared lock in scripts; undefined for an exclusive one. */
function kindOf({ share }: LockRequest): 's' | 'p' | undefined {
  return share && (isReader(share) ? 's' : 'p');
}

/** Returns true for the reply 1, false for 0. @throws for any other reply. */
export function isOne(reply: unknown): boolean {
  if (reply !== 1 && reply !== 0) throw noReply();
  return reply === 1;
}

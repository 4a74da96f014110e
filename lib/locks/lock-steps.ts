import {
  type KeyList,
  lockKeyList,
  type LockServer,
  type LuaScript,
  type Operand,
  Remembered,
  type Step,
} from '../redis/index.js';
import { type Moment, momentOf } from '../options/index.js';
import { TAKE_OVER_PAUSE } from '../protocol/constants.js';
import { guarded } from './guard/guarded.js';
import { batchesOf, LARGEST_BATCH } from './batches.js';
import type { Answer, Extension, Transferred } from './lock-primitive.js';
import type { LockRequest } from './lock-request.js';
import { type AcquireReply, answerOf, extendedOf } from './reply.js';
import { unlessGone, unlessHeld, unlessLost } from './unconfirmed.js';

type Script = LuaScript<string, string>;
type Operands = Readonly<Record<string, string | number | undefined>>;

/** What acquire wants to know beside what all ask for: of a lock held alone, of one held by several, of a condition. */
interface AcquireOperands {
  readonly former?: string | undefined;
  readonly kind?: string;
  readonly permits?: number | undefined;
  readonly count?: number;
  readonly condition?: string;
  readonly over?: number;
}

/** The steps of our own locks on one server: finds the keys, says when a step is too late, reads the replies. */
export class LockSteps {
  /** The keys of locks, by the names that scripts give them. */
  readonly #keyLists = new Map<readonly string[], Remembered<KeyList>>();

  constructor(
    readonly server: LockServer,
    private readonly prefix: string,
    private readonly waitersPerKey: number,
    /** Told of grants that come with a reply, as they would come to the inbox. */
    private readonly heard: (message: string) => void,
    /** Clients of the SETNX articles use the locks too. */
    private readonly guarded: boolean,
  ) {}

  /** What stands before the name of a process in the name of its inbox. */
  get inbox(): string {
    return this.server.inboxPrefix;
  }

  step<Result>(
    script: Script,
    key: string,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Step<Result> {
    const { step, keys, redisKey } = this.#on(script, key);
    const run = { script: step, keys, args: step.argList(operands), key, read };
    return { redisKey, key, on: () => run };
  }

  acquire(script: Script, request: LockRequest, more: AcquireOperands): Step<Answer> {
    const { key, holder, ttl, tokenBlock: tokens, queue, enqueuedAt: arrival, wanted } = request;
    const { step, keys, redisKey } = this.#on(script, key);
    return {
      redisKey,
      key,
      wanted,
      on: (node) => {
        const sent = momentOf(this.server.time);
        const operands = {
          holder,
          ttl,
          tokens,
          not_after: node.notAfter(sent.monotonic),
          inbox: this.inbox,
          limit: queue ? this.waitersPerKey : 0,
          arrival,
          former: more.former,
          guard: this.guarded ? 1 : undefined,
          kind: more.kind,
          permits: more.permits,
          count: more.count,
          condition: more.condition,
          over: more.over,
        };
        return {
          script: step,
          keys,
          args: step.argList(operands),
          key,
          sentAt: sent.monotonic,
          wanted,
          unconfirmed: unlessHeld,
          read: (answer, receivedAt) => {
            const reply = answer as AcquireReply;
            const now = typeof reply === 'number' ? reply : reply[2];
            node.clock.learn(sent, receivedAt, now / 1_000);
            return answerOf(reply, request, sent, this.#renewIn);
          },
        };
      },
    };
  }

  /** Answers whether something was given back. Who comes next, if it waits in this process, has been told before. */
  release(script: Script, key: string, operands: Operands): Step<boolean> {
    return this.step(script, key, operands, (reply) => {
      if (typeof reply === 'number') return reply === 1;
      for (const grant of reply as string[]) this.heard(grant);
      return true;
    });
  }

  /** None of two slots, none of more than `largest`. */
  batches(requests: readonly LockRequest[], largest = LARGEST_BATCH): number[][] {
    return batchesOf(requests, ({ key }) => this.server.slotOf(this.prefix + key), largest);
  }

  /** Of one batch; `operandsOf` is what the script wants to know of a request. */
  extend(
    script: Script,
    requests: readonly LockRequest[],
    operandsOf: (request: LockRequest) => Operands = holderAndTtl,
  ): Step<Extension> {
    const step = this.#script(script);
    const keys = lockKeyList(step, this.prefix, requests);
    const args: Operand[] = [];
    for (const request of requests) args.push(...step.argList(operandsOf(request)));
    const key = requests.length === 1 ? requests[0]!.key : undefined;
    const read = (sent: Moment, reply: unknown): Extension => ({
      sent,
      remaining: (reply as number[]).map(extendedOf),
    });
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
          read: (reply) => read(sent, reply),
          unconfirmed: unlessLost,
        };
      },
    };
  }

  /** Nothing happened if it came too late. */
  transfer(
    script: Script,
    request: LockRequest,
    successor: LockRequest,
  ): Step<Transferred | 'late'> {
    const { key, holder } = request;
    const { step, keys, redisKey } = this.#on(script, key);
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
              return { sent, remaining: extendedOf(reply), renewIn: this.#renewIn };
            }
            const [, now] = reply as [late: number, now: number];
            node.clock.learn(sent, receivedAt, now / 1_000);
            return 'late';
          },
        };
      },
    };
  }

  /** When a guarded lease is renewed first: until then, a client that lost a take-over may write over it. */
  get #renewIn(): number | undefined {
    return this.guarded ? TAKE_OVER_PAUSE : undefined;
  }

  #script(script: Script): Script {
    return this.guarded ? guarded(script) : script;
  }

  #on(script: Script, key: string): { step: Script; keys: KeyList; redisKey: string } {
    const step = this.#script(script);
    let lists = this.#keyLists.get(step.keys);
    if (!lists) {
      lists = new Remembered((name) => lockKeyList(step, this.prefix, [{ key: name }]));
      this.#keyLists.set(step.keys, lists);
    }
    const keys = lists.of(key);
    return { step, keys, redisKey: keys.keys[0]! };
  }
}

function holderAndTtl({ holder, ttl }: LockRequest): Operands {
  return { holder, ttl };
}

/** Whether a script answered 1. */
export function isOne(reply: unknown): boolean {
  return reply === 1;
}

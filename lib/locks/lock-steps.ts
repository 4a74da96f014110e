import {
  type KeyList,
  lockKeyList,
  type LockServer,
  type LuaScript,
  type Operand,
  Remembered,
  type StepNode,
} from '../redis/index.js';
import { LockStoreError } from '../errors/index.js';
import { momentOf } from '../options/index.js';
import { guarded } from './guard/guarded.js';
import { batchesOf, LARGEST_BATCH } from './batches.js';
import { TAKE_OVER_PAUSE } from '../protocol/constants.js';
import type { Answer, Extension, Transferred } from './lock-primitive.js';
import type { LockRequest } from './lock-request.js';
import { type AcquireReply, answerOf, extendedOf } from './reply.js';
import { UNCONFIRMED, unlessGone, unlessHeld, unlessLost } from './unconfirmed.js';

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

/** The scripts of locks on one server: finds the keys, says when an ask is too late, reads the replies. */
export class LockSteps {
  /** The keys of locks, by the names that scripts give them. */
  readonly #keyLists = new Map<readonly string[], Remembered<KeyList>>();

  constructor(
    private readonly server: LockServer,
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

  run<Result>(
    step: Script,
    key: string,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const script = this.#script(step);
    const keys = this.#keys(script, key);
    const args = script.argList(operands);
    return this.server.at(keys.keys[0]!, key, (node) =>
      node.run({ script, keys, args, key, read }),
    );
  }

  acquire(step: Script, request: LockRequest, more: AcquireOperands): Promise<Answer> {
    const script = this.#script(step);
    const keys = this.#keys(script, request.key);
    const asking = (node: StepNode): Promise<Answer> =>
      this.#ask(node, script, keys, request, more);
    return this.server.at(keys.keys[0]!, request.key, asking, request.wanted);
  }

  #ask(
    node: StepNode,
    script: Script,
    keys: KeyList,
    request: LockRequest,
    more: AcquireOperands,
  ): Promise<Answer> {
    const sent = momentOf(this.server.time);
    const { key, holder, ttl, tokens, queue, arrival, wanted } = request;
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
    return node.run({
      script,
      keys,
      args: script.argList(operands),
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
    });
  }

  /** Resolves to whether something was given back. Who comes next, if he waits in this process, has been told before. */
  release(script: Script, key: string, operands: Operands): Promise<boolean> {
    return this.run(script, key, operands, (reply) => {
      if (typeof reply === 'number') return reply === 1;
      for (const grant of reply as string[]) this.heard(grant);
      return true;
    });
  }

  /** None of two slots, none of more than `largest`. */
  batches(requests: readonly LockRequest[], largest = LARGEST_BATCH): number[][] {
    return batchesOf(requests, ({ key }) => this.server.slotOf(this.prefix + key), largest);
  }

  /** One batch; `operandsOf` is what the script wants to know of a request. */
  extend(
    step: Script,
    requests: readonly LockRequest[],
    operandsOf: (request: LockRequest) => Operands = holderAndTtl,
  ): Promise<Extension> {
    const script = this.#script(step);
    const args: Operand[] = [];
    for (const request of requests) args.push(...script.argList(operandsOf(request)));
    const run = {
      script,
      keys: lockKeyList(script, this.prefix, requests),
      args,
      key: requests.length === 1 ? requests[0]!.key : undefined,
      read: (reply: unknown) => reply as number[],
      unconfirmed: unlessLost,
    };
    return this.server.at(run.keys.keys[0]!, run.key, async (node) => {
      const sent = momentOf(this.server.time);
      const left = await node.run(run);
      return {
        sent,
        remaining: left.map((ms) => (ms === UNCONFIRMED ? 'unknown' : extendedOf(ms))),
      };
    });
  }

  /** @throws LockStoreError if it came too late: nothing happened then. */
  transfer(script: Script, request: LockRequest, heir: LockRequest): Promise<Transferred> {
    const { key, holder } = request;
    const step = this.#script(script);
    const keys = this.#keys(step, key);
    const once = async (node: StepNode): Promise<Transferred | undefined> => {
      const sent = momentOf(this.server.time);
      const not_after = node.notAfter(sent.monotonic);
      const args = step.argList({ holder, heir: heir.holder, ttl: heir.ttl, not_after });
      const read = (reply: unknown, receivedAt: number): number | undefined => {
        if (typeof reply === 'number') return reply;
        const [, now] = reply as [late: number, now: number];
        node.clock.learn(sent, receivedAt, now / 1_000);
        return undefined;
      };
      const left = await node.run({ script: step, keys, args, key, read, unconfirmed: unlessGone });
      return left === undefined
        ? undefined
        : { sent, remaining: extendedOf(left), renewIn: this.#renewIn };
    };
    return this.server.at(keys.keys[0]!, key, async (node) => {
      // After a sleep the server's clock is ahead of what we know of it, until it has said so.
      const transferred = (await once(node)) ?? (await once(node));
      if (transferred) return transferred;
      throw new LockStoreError(`Lock "${key}" was handed on too late.`, { key, outcome: 'unsent' });
    });
  }

  /** When a guarded lease is renewed first: until then, a client that lost a take-over may write over it. */
  get #renewIn(): number | undefined {
    return this.guarded ? TAKE_OVER_PAUSE : undefined;
  }

  #script(step: Script): Script {
    return this.guarded ? guarded(step) : step;
  }

  #keys(script: Script, key: string): KeyList {
    let lists = this.#keyLists.get(script.keys);
    if (!lists) {
      lists = new Remembered((name) => lockKeyList(script, this.prefix, [{ key: name }]));
      this.#keyLists.set(script.keys, lists);
    }
    return lists.of(key);
  }
}

function holderAndTtl({ holder, ttl }: LockRequest): Operands {
  return { holder, ttl };
}

/** Whether a script answered 1. */
export function isOne(reply: unknown): boolean {
  return reply === 1;
}

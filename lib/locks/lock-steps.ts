import {
  type KeyList,
  type LockKeys,
  lockKeys,
  type LuaScript,
  type RedisServer,
  Remembered,
} from '../redis/index.js';
import { type AcquireReply, answerOf } from './lock/acquire-reply.js';
import type { Answer, Ask, Claim, Extended } from './lock-primitive.js';

/** How many leases one extend carries: a longer script would hold up everybody else. */
export const LARGEST_BATCH = 512;

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
    private readonly server: RedisServer,
    private readonly prefix: string,
    /** What stands before the name of a process in the name of its inbox. */
    readonly inbox: string,
    private readonly waitersPerKey: number,
  ) {}

  run<Result>(
    script: Script,
    key: string,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    return this.server.run({
      script,
      keys: this.#keys(script, key),
      args: script.argList(operands),
      key,
      read,
    });
  }

  acquire(script: Script, ask: Ask, more: AcquireOperands): Promise<Answer> {
    const sentAt = this.server.time.monotonic();
    const { key, holder, ttl, tokens, queue, arrival, wanted } = ask;
    const operands = {
      holder,
      ttl,
      tokens,
      not_after: this.server.notAfter(sentAt),
      inbox: this.inbox,
      limit: queue ? this.waitersPerKey : 0,
      arrival,
      former: more.former,
      kind: more.kind,
      permits: more.permits,
      count: more.count,
      condition: more.condition,
      over: more.over,
    };
    return this.server.run({
      script,
      keys: this.#keys(script, key),
      args: script.argList(operands),
      key,
      sentAt,
      wanted,
      read: (answer, receivedAt) => {
        const reply = answer as AcquireReply;
        const now = typeof reply === 'number' ? reply : reply[2];
        this.server.clock.learn(sentAt, receivedAt, now / 1_000);
        return answerOf(reply, ask, sentAt);
      },
    });
  }

  /** In batches; `more` is what the script wants to know of each claim beside holder and ttl. */
  async extend(
    script: Script,
    claims: readonly Claim[],
    more: (claim: Claim) => Operands = () => ({}),
  ): Promise<{ sentAt: number; remaining: Extended[] }> {
    const sentAt = this.server.time.monotonic();
    const batches: Promise<number[]>[] = [];
    for (let at = 0; at < claims.length; at += LARGEST_BATCH) {
      const batch = claims.slice(at, at + LARGEST_BATCH);
      const run = {
        script,
        keys: script.keyList(...batch.map(({ key }) => this.#names(key))),
        args: batch.flatMap((claim) => {
          const { holder, ttl } = claim;
          return script.argList({ holder, ttl, ...more(claim) });
        }),
        key: batch.length === 1 ? batch[0]!.key : undefined,
        read: (reply: unknown) => reply as number[],
      };
      batches.push(this.server.run(run));
    }
    const left = (await Promise.all(batches)).flat();
    return { sentAt, remaining: left.map((ms) => (ms === -2 ? 'free' : ms === -3 ? 'taken' : ms)) };
  }

  #keys(script: Script, key: string): KeyList {
    let lists = this.#keyLists.get(script.keys);
    if (!lists) {
      lists = new Remembered((name) => script.keyList(this.#names(name)));
      this.#keyLists.set(script.keys, lists);
    }
    return lists.of(key);
  }

  #names(key: string): LockKeys & Record<string, string> {
    return lockKeys(this.prefix, key) as LockKeys & Record<string, string>;
  }
}

/** Whether a script answered 1. */
export function isOne(reply: unknown): boolean {
  return reply === 1;
}

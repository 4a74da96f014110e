import { type LockKeys, lockKeys, type LuaScript, type RedisServer } from '../redis/index.js';
import { type AcquireReply, answerOf } from './lock/acquire-reply.js';
import type { Answer, Ask, Claim, Extended } from './lock-primitive.js';

/** How many leases one extend carries: a longer script would hold up everybody else. */
const LARGEST_BATCH = 128;

type Script = LuaScript<string, string>;
type Operands = Readonly<Record<string, string | number | undefined>>;

/** The scripts of locks on one server: finds the keys, says when an ask is too late, reads the replies. */
export class LockSteps {
  constructor(
    private readonly server: RedisServer,
    private readonly prefix: string,
    /** What stands before the name of a process in the name of its inbox. */
    readonly inbox: string,
    private readonly waitersPerKey: number,
  ) {}

  run(script: Script, key: string, operands: Operands): Promise<unknown> {
    return this.server.run(script, script.operands(this.#names(key), operands), { key });
  }

  acquire(script: Script, ask: Ask, more: Operands): Promise<Answer> {
    const sentAt = this.server.time.monotonic();
    const { key, holder, ttl, tokens, queue, arrival } = ask;
    const operands = script.operands(this.#names(key), {
      holder,
      ttl,
      tokens,
      not_after: this.server.notAfter(sentAt),
      inbox: this.inbox,
      limit: queue ? this.waitersPerKey : 0,
      arrival,
      ...more,
    });
    return this.server.run(script, operands, ask).then((answer) => {
      const reply = answer as AcquireReply;
      this.server.clock.learn(sentAt, this.server.time.monotonic(), reply[2] / 1_000);
      return answerOf(reply, key, sentAt);
    });
  }

  /** In batches; `more` is what the script wants to know of each claim beside holder and ttl. */
  async extend(
    script: Script,
    claims: readonly Claim[],
    more: (claim: Claim) => Operands = () => ({}),
  ): Promise<{ sentAt: number; remaining: Extended[] }> {
    const sentAt = this.server.time.monotonic();
    const batches: Promise<unknown>[] = [];
    for (let at = 0; at < claims.length; at += LARGEST_BATCH) {
      const batch = claims.slice(at, at + LARGEST_BATCH);
      const turns = batch.map((claim) => {
        const { key, holder, ttl } = claim;
        return [this.#names(key), { holder, ttl, ...more(claim) }] as const;
      });
      const sending = batch.length === 1 ? { key: batch[0]!.key } : {};
      batches.push(this.server.run(script, script.operandsOfTurns(turns), sending));
    }
    const left = (await Promise.all(batches)).flat() as number[];
    return { sentAt, remaining: left.map((ms) => (ms === -2 ? 'free' : ms === -3 ? 'taken' : ms)) };
  }

  #names(key: string): LockKeys & Record<string, string> {
    return lockKeys(this.prefix, key) as LockKeys & Record<string, string>;
  }
}

/** Whether a script answered 1. */
export function isOne(reply: unknown): boolean {
  return reply === 1;
}

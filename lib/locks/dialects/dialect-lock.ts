import { ForeignLockError, LockOptionsError } from '../../errors/index.js';
import type { DialectSettings } from '../../options/index.js';
import { type LockServer, lockKeys, type StepNode } from '../../redis/index.js';
import { askAgain } from '../back-off.js';
import { lockId } from '../lock-id.js';
import type { Answer, Ask, Claim, Extended, HolderSteps, Sight } from '../lock-primitive.js';
import { isOne } from '../lock-steps.js';
import type { AcquireReply, Dialect, DialectScript, Send } from './dialect-format.js';
import { scripts } from './scripts.js';

type Operands = Readonly<Record<string, string | number | undefined>>;

/**
 * A lock in another service's format: one holder at a time, or readers where that format knows them. Not
 * re-entrant by itself. There is no queue, and no turn is promised: who waits asks again when the other side tells of
 * a release by PUBLISH, and each second; after a random pause that grows where it does not (by SPUBLISH, or not at all).
 * A crash costs the rest of the lease.
 */
export class DialectLock implements HolderSteps {
  constructor(
    private readonly server: LockServer,
    /** What the client itself puts before every key. */
    private readonly clientPrefix: string,
    private readonly settings: DialectSettings,
    private readonly dialect: Dialect,
    /** Told when a lock was given back: who waits for it here need not wait for his pause to end. */
    private readonly freed: (lock: string) => void,
  ) {}

  async acquire(ask: Ask): Promise<Answer> {
    const lock = this.#redisKey(ask.key);
    this.#assertOneSlot(lock, ask);
    const step = (node: StepNode): Promise<Answer> => this.#ask(node, lock, ask);
    return this.server.at(lock, step, ask.wanted);
  }

  async release(claim: Claim, keep: number): Promise<boolean> {
    const rest = keep > 0 ? Math.ceil(keep) : undefined;
    const released = await this.#run(this.dialect.release, claim, { keep: rest }, isOne);
    this.freed(lockId(claim));
    return released;
  }

  leave(claim: Claim): Promise<boolean> {
    return this.release(claim, 0);
  }

  async extend(claims: readonly Claim[]): Promise<{ sentAt: number; remaining: Extended[] }> {
    const sentAt = this.server.time.monotonic();
    const read = (reply: unknown): Extended =>
      reply === -2 ? 'free' : reply === -3 ? 'taken' : (reply as number);
    const remaining = claims.map((claim) => this.#run(this.dialect.extend, claim, {}, read));
    return { sentAt, remaining: await Promise.all(remaining) };
  }

  inspect(key: string): Promise<Sight> {
    return this.#run(scripts.look, { key }, {}, (reply) => {
      const [type, value, remaining, fence, now] = reply as [
        string,
        string,
        number,
        string,
        number,
      ];
      return {
        type,
        holder: value,
        holders: [],
        foreign: type === this.dialect.type,
        remaining,
        fencingToken: fence ? Number(fence) : undefined,
        waiting: 0,
        awaiting: 0,
        places: [],
        now: now / 1_000,
      };
    });
  }

  async force(key: string): Promise<boolean> {
    const { type } = this.dialect;
    const operands = { type, publish: 'PUBLISH', ...this.dialect.wake?.(this.#redisKey(key)) };
    const script = this.dialect.force ?? scripts.force;
    const found = await this.#run(script, { key }, operands, String);
    if (found === 'none') return false;
    if (found !== type) throw new ForeignLockError(key, found);
    this.freed(lockId({ key, dialect: this.settings }));
    return true;
  }

  /** Takes the lock at one node, or says who has it. */
  #take(node: StepNode, lock: string, ask: Ask, sentAt: number): Promise<AcquireReply> {
    const { key, tokens, wanted } = ask;
    const keys = this.#keys(lock, ask);
    const operands = { ...this.#operands(ask, lock), tokens, not_after: node.notAfter(sentAt) };
    const send: Send = (script, more) => {
      const stepAt = this.server.time.monotonic();
      return node.run({
        script,
        keys: script.keyList(keys),
        args: script.argList({ ...operands, ...more }),
        key,
        sentAt: stepAt,
        wanted,
        read: (answer, receivedAt) => {
          const reply = answer as AcquireReply;
          node.clock.learn(stepAt, receivedAt, reply[2] / 1_000);
          return reply;
        },
      });
    };
    return this.dialect.take ? this.dialect.take(send) : send(this.dialect.acquire);
  }

  async #ask(node: StepNode, lock: string, ask: Ask): Promise<Answer> {
    const sentAt = this.server.time.monotonic();
    const reply = await this.#take(node, lock, ask, sentAt);
    const [kind, left, , token] = reply;
    if (kind === 'foreign') throw new ForeignLockError(ask.key, String(left));
    if (kind === 'late') return { kind };
    if (kind === 'busy') {
      if (!ask.queue) return { kind };
      const told = this.#quietSince(lock, ask) < sentAt;
      return askAgain(ask, this.server.time.monotonic(), left as number, told);
    }
    const fencingToken = token < 0 ? undefined : token;
    const tokens = token < 0 ? 0 : 1;
    return { kind: 'held', sentAt, remaining: left as number, fencingToken, tokens };
  }

  /** Listens to where the other side tells of releases. Since when it is heard and silent; Infinity where it is not heard. */
  #quietSince(lock: string, ask: Ask): number {
    const wake = this.dialect.wake?.(lock);
    if (wake?.publish !== 'PUBLISH' || wake.older !== undefined) return Infinity; // not all of them tell there
    const id = lockId(ask);
    return this.server.hear(wake.channel, () => this.freed(id));
  }

  #run<Result>(
    script: DialectScript,
    { key, ...rest }: Pick<Claim, 'key'> & Partial<Claim>,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const lock = this.#redisKey(key);
    const claim = rest.holder === undefined ? undefined : ({ key, ...rest } as Claim);
    const run = {
      script,
      keys: script.keyList(this.#keys(lock, claim)),
      args: script.argList({ ...(claim && this.#operands(claim, lock)), ...operands }),
      key,
      read,
    };
    return this.server.at(lock, (node) => node.run(run));
  }

  /** A lock that could be taken and not be given back is refused before it is taken. */
  #assertOneSlot(lock: string, ask: Ask): void {
    const keys = Object.values(this.dialect.keys?.(lock, ask) ?? {});
    const apart = keys.find((key) => this.server.slotOf(key) !== this.server.slotOf(lock));
    if (apart === undefined) return;
    throw new LockOptionsError(
      `Dialect "${this.settings.name}" keeps "${lock}" and "${apart}" in two slots of the Cluster. Put a part of the name in braces, on both sides: "{${ask.key}}".`,
    );
  }

  #operands(claim: Claim, lock: string): Operands {
    const { holder, ttl } = claim;
    return { holder, ttl, ...this.dialect.wake?.(lock), ...this.dialect.operands?.(claim, lock) };
  }

  #redisKey(key: string): string {
    const { prefix, suffix } = this.settings;
    return this.clientPrefix + prefix + key + suffix;
  }

  #keys(lock: string, claim?: Claim): Readonly<Record<string, string>> {
    const { fence, grant } = lockKeys('', lock);
    return { lock, fence, grant, ...this.dialect.keys?.(lock, claim) };
  }
}

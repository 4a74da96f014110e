import { ForeignLockError } from '../../errors/index.js';
import {
  type KeyList,
  type LockKeys,
  lockKeys,
  type LuaScript,
  type RedisServer,
  Remembered,
} from '../../redis/index.js';
import type { Answer, Ask, Claim, Extended, LockPrimitive, Sight } from '../lock-primitive.js';
import { scripts } from './scripts.js';

/** How many leases one extend carries: a longer script would hold up everybody else. */
const LARGEST_BATCH = 128;

/**
 * One holder at a time. Not re-entrant by itself: the holder id is one grant's. Waiters are served in
 * the order in which the server queued them, by hand-off in the release. A crash costs the rest of the
 * lease; a crashed waiter at most 3 s.
 */
export class RedisLock implements LockPrimitive {
  /** The keys of a lock as most of the scripts take them. */
  readonly #keys = new Remembered<KeyList>((key) => scripts.acquire.keyList(this.#names(key)));

  constructor(
    private readonly server: RedisServer,
    private readonly prefix: string,
    private readonly inboxPrefix: string,
    private readonly processId: string,
    private readonly waitersPerKey: number,
  ) {}

  acquire(ask: Ask): Promise<Answer> {
    const sentAt = this.server.time.monotonic();
    const { key, holder, ttl, tokens, queue, arrival, former, wanted } = ask;
    return this.server.run({
      script: scripts.acquire,
      keys: this.#keys.of(key),
      args: scripts.acquire.argList({
        holder,
        ttl,
        tokens,
        not_after: this.server.notAfter(sentAt),
        inbox: this.inboxPrefix,
        limit: queue ? this.waitersPerKey : 0,
        arrival,
        former: former?.holder,
      }),
      key,
      sentAt,
      wanted,
      read: (reply, receivedAt) => this.#answer(ask, sentAt, receivedAt, reply as number | Reply),
    });
  }

  release({ key, holder }: Claim, keep: number): Promise<boolean> {
    const rest = keep > 0 ? Math.ceil(keep) : undefined;
    return this.#run('release', key, { holder, inbox: this.inboxPrefix, keep: rest }, isOne);
  }

  leave(claim: Claim): Promise<boolean> {
    const { key, holder } = claim;
    const operands = { holder, place: place(claim), inbox: this.inboxPrefix };
    return this.#run('leave', key, operands, isOne);
  }

  async extend(claims: readonly Claim[]): Promise<{ sentAt: number; remaining: Extended[] }> {
    const sentAt = this.server.time.monotonic();
    const batches: Promise<number[]>[] = [];
    for (let at = 0; at < claims.length; at += LARGEST_BATCH) {
      const batch = claims.slice(at, at + LARGEST_BATCH);
      const run = {
        script: scripts.extend,
        keys: scripts.extend.keyList(...batch.map(({ key }) => this.#names(key))),
        args: batch.flatMap((claim) => scripts.extend.argList(claim)),
        key: batch.length === 1 ? batch[0]!.key : undefined,
        read: (reply: unknown) => reply as number[],
      };
      batches.push(this.server.run(run));
    }
    const left = (await Promise.all(batches)).flat();
    return { sentAt, remaining: left.map((ms) => (ms === -2 ? 'free' : ms === -3 ? 'taken' : ms)) };
  }

  async inspect(key: string, places: number): Promise<Sight> {
    const reply = await this.server.run({
      script: scripts.inspect,
      keys: scripts.inspect.keyList(this.#names(key)),
      args: scripts.inspect.argList({ most: places }),
      key,
      read: (found) => found as [string, string, number, string, string, number, ...string[]],
    });
    const [type, holder, remaining, fence, now, waiting, ...queue] = reply;
    const found: { place: string; age: number }[] = [];
    for (let at = 0; at + 1 < queue.length; at += 2) {
      found.push({ place: queue[at]!, age: (Number(now) - Number(queue[at + 1])) / 1_000 });
    }
    const fencingToken = token(fence);
    return {
      type,
      holder,
      remaining,
      fencingToken,
      waiting,
      places: found,
      now: Number(now) / 1_000,
    };
  }

  async force(key: string): Promise<boolean> {
    const operands = { inbox: this.inboxPrefix };
    const reply = await this.#run('force', key, operands, (found) => found as [number, string]);
    const [done, type] = reply;
    if (done === 0 && type !== 'none') throw new ForeignLockError(key, type);
    return done === 1;
  }

  #answer(
    { key, ttl, tokens }: Ask,
    sentAt: number,
    receivedAt: number,
    reply: number | Reply,
  ): Answer {
    if (typeof reply === 'number') {
      this.server.clock.learn(sentAt, receivedAt, reply / 1_000);
      const fencingToken = tokens > 0 ? reply : undefined;
      return { kind: 'held', sentAt, remaining: ttl, fencingToken, tokens, gaveBack: false };
    }
    const [kind, left, now, former, detail, count, rejoined] = reply;
    const gaveBack = former === 1;
    const remaining = left as number;
    this.server.clock.learn(sentAt, receivedAt, now / 1_000);
    switch (kind) {
      case 'held':
        return {
          kind,
          sentAt,
          remaining,
          fencingToken: (detail as number) || undefined,
          tokens: count,
          gaveBack,
        };
      case 'queued':
        return {
          kind,
          remaining,
          arrival: detail as string,
          rank: count,
          rejoined: rejoined === 1,
          gaveBack,
        };
      case 'foreign':
        throw new ForeignLockError(key, left as string);
      default:
        return { kind, gaveBack };
    }
  }

  #run<Step extends 'release' | 'leave' | 'force', Result>(
    step: Step,
    key: string,
    args: Parameters<(typeof scripts)[Step]['argList']>[0],
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const script: LuaScript<string, string> = scripts[step];
    return this.server.run({
      script,
      keys: this.#keys.of(key),
      args: script.argList(args),
      key,
      read,
    });
  }

  #names(key: string): LockKeys & Record<string, string> {
    return lockKeys(this.prefix, key) as LockKeys & Record<string, string>;
  }
}

/** What acquire.lua returns unless it is the clock alone. */
type Reply = [
  kind: Answer['kind'] | 'foreign',
  left: number | string,
  now: number,
  former: number,
  detail: string | number,
  count: number,
  rejoined: number,
];

function isOne(reply: unknown): boolean {
  return reply === 1;
}

/** A place in the queue, constant for its life: what grant-next needs to know of it. */
function place({ holder, ttl, tokens }: Claim): string {
  return `${holder}/${ttl}/x${tokens}`;
}

export function token(text: string | undefined): number | undefined {
  return text ? Number(text) : undefined;
}

import { ForeignLockError, LockOptionsError } from '../../errors/index.js';
import { type LockFormat, momentOf } from '../../options/index.js';
import { TAKE_OVER_PAUSE } from '../../protocol/constants.js';
import {
  baseOf,
  BESIDE,
  fenceKey,
  KeyList,
  type LockServer,
  LuaScript,
  named,
  notSent,
  type Operands,
  type StepNode,
} from '../../redis/index.js';
import { askAgain } from '../back-off.js';
import { entryOf } from '../entry.js';
import { lockId, type LockRequest } from '../lock-request.js';
import type { Whereabouts } from '../lock-names.js';
import type { Answer, Extension, Snapshot } from '../lock-store.js';
import { isOne } from '../lock-steps.js';
import { extendedOf } from '../reply.js';
import { scripts as others, snapshotWithoutQueue } from '../snapshot.js';
import type { Dialect, DialectReply, DialectScript, Send, Wake } from './dialect.js';
import { marked, plain } from './plain/plain.js';
import { pythonRedisLock } from './python-redis-lock/python-redis-lock.js';
import { redisson } from './redisson/redisson.js';
import { spring } from './spring/spring.js';
import { symfony } from './symfony/symfony.js';
import { timestamp } from './timestamp/timestamp.js';
import { tryRights } from './try-out.js';
import force from './force.lua.js';

/** The scripts that most dialects share. */
export const scripts = named('dialect', { force: new LuaScript(force) });

/** A request, or the key of an inspection or a forced release. */
type Asked = LockRequest | Pick<LockRequest, 'key'>;
type Keys = Readonly<Record<string, string>> & { readonly lock: string };

/** The surroundings of a lock in a dialect: parts of the store that keeps it. */
export interface Surroundings {
  /** The prefix that the Redis client itself puts before every key. */
  readonly clientPrefix: string;
  /** The prefix of inboxes of native callers at the same names; the name of the process follows. */
  readonly inboxPrefix: string;
  /** The most entries in a queue. */
  readonly waitersPerKey: number;
  /** Called after a release: a waiter of this process need not wait for its pause to end. */
  readonly freed: (lock: string) => void;
  /** Receives the messages of native callers to this process. */
  readonly message: (text: string) => void;
}

/**
 * A lock in another service's format: exclusive, or with readers if the format knows them. Not re-entrant by itself. There is
 * no queue, and no turn is promised: a waiter asks again each second, and when the other service publishes a release (PUBLISH).
 * Without such messages (SPUBLISH, or none), it asks again after a random pause that grows. Behind a native holder at the same
 * name, a waiter joins the native queue. A crash costs the rest of the lease.
 */
export class DialectLock {
  private readonly dialect: Dialect;
  /** True when the rights that the dialect needs have been tried. */
  #tried = false;

  constructor(
    private readonly server: LockServer,
    private readonly settings: LockFormat,
    private readonly around: Surroundings,
  ) {
    this.dialect = speak(settings, around.clientPrefix);
  }

  async acquire(request: LockRequest): Promise<Answer> {
    const keys = this.#keys(request);
    const asked = this.server.time.monotonic();
    const step = async (node: StepNode): Promise<Answer> => {
      if (!this.#tried) await tryRights(node, this.dialect, keys, request);
      this.#tried = true;
      return this.#ask(node, keys, request, asked);
    };
    return this.server.at(keys.lock, request.key, step, request.wanted);
  }

  release(request: LockRequest, minHoldRest: number): Promise<boolean> {
    return this.#giveBack(request, { keep: minHoldRest > 0 ? Math.ceil(minHoldRest) : undefined });
  }

  leave(request: LockRequest): Promise<boolean> {
    return this.#giveBack(request, { entry: entryOf({ ...request, ...marked(request) }) });
  }

  async extend(requests: readonly LockRequest[]): Promise<Extension> {
    const sent = momentOf(this.server.time);
    const remaining = requests.map((request) =>
      this.#run(this.dialect.extend, request, {}, extendedOf),
    );
    return { sent, remaining: await Promise.all(remaining) };
  }

  /** The type and key pattern of this format's locks. */
  get whereabouts(): Whereabouts {
    const { prefix, suffix } = this.settings;
    return { type: this.dialect.type, prefix: this.around.clientPrefix + prefix, suffix };
  }

  inspect(key: string, most: number): Promise<Snapshot> {
    const { inspect = others.inspectString } = this.dialect;
    return this.#run(inspect, { key }, { most }, snapshotWithoutQueue);
  }

  async force(key: string, sight?: string): Promise<boolean | 'another'> {
    const { type } = this.dialect;
    const operands = { type, ...this.#wake({ key }), inbox: this.server.inboxPrefix, sight };
    const script = this.dialect.force ?? scripts.force;
    const read = (reply: unknown): [string, number] => reply as [string, number];
    const [found, isLock] = await this.#run(script, { key }, operands, read);
    if (found === 'none') return false;
    if (isLock === 2) return 'another';
    if (isLock !== 1) throw new ForeignLockError(key, found);
    this.around.freed(lockId({ key, format: this.settings }));
    return true;
  }

  async #giveBack(request: LockRequest, how: Operands): Promise<boolean> {
    const inbox = this.around.inboxPrefix;
    const operands = { ...this.#wake(request), inbox, ...how };
    const released = await this.#run(this.dialect.release, request, operands, isOne);
    this.around.freed(lockId(request));
    return released;
  }

  /** Takes the lock at one node, or reads its holder. `asked` is the time of the caller's ask: other nodes may have been asked before. */
  #take(node: StepNode, keys: Keys, request: LockRequest, asked: number): Promise<DialectReply> {
    const { key, tokenBlock: tokens, wanted, queue } = request;
    const operands = {
      ...this.#operands(request, keys.lock),
      tokens,
      not_after: node.notAfter(asked),
      limit: queue ? this.around.waitersPerKey : undefined,
    };
    const send: Send = (script, more) => {
      if (wanted?.() === false) return Promise.reject(notSent(key, 'the caller gave up'));
      const step = momentOf(this.server.time);
      return node.run({
        script,
        keys: this.#keyList(script, keys),
        args: script.argList({ ...operands, ...more }),
        key,
        sentAt: step.monotonic,
        wanted,
        read: (answer, receivedAt) => {
          const reply = answer as DialectReply;
          node.clock.learn(step, receivedAt, reply[2] / 1_000);
          return reply;
        },
      });
    };
    return this.dialect.take ? this.dialect.take(send) : send(this.dialect.acquire);
  }

  async #ask(node: StepNode, keys: Keys, request: LockRequest, asked: number): Promise<Answer> {
    const sent = momentOf(this.server.time);
    const reply = await this.#take(node, keys, request, asked);
    const [kind, left, , token, more] = reply;
    if (kind === 'foreign') throw new ForeignLockError(request.key, String(left));
    if (kind === 'late') return { kind };
    if (kind === 'busy') {
      if (!request.queue) return { kind };
      const told = this.#quietSince(request) < sent.monotonic;
      const answer = askAgain(request, this.server.time.monotonic(), left as number, told);
      if (more !== 1 && more !== 2) return answer;
      this.#hearOfGrants(request);
      return { ...answer, requeued: more === 2 && request.enqueuedAt !== undefined };
    }
    const fencingToken = token < 0 ? undefined : token;
    const tokens = token < 0 ? 0 : 1;
    const renewIn = more === 1 ? TAKE_OVER_PAUSE : undefined;
    return { kind: 'held', sent, remaining: left as number, fencingToken, tokens, renewIn };
  }

  /** Listens to the other service's releases. Returns since when the channel is heard and silent; Infinity if it is not heard. */
  #quietSince(request: LockRequest): number {
    const wake = this.#wake(request);
    if (wake?.publish !== 'PUBLISH' || wake.older !== undefined) return Infinity; // some versions publish on the older channel only
    const id = lockId(request);
    return this.server.foreignChannels.listen(wake.channel, () => this.around.freed(id));
  }

  /** Listens to grants of native callers to this process, if their inbox is not this module's own. A waiter that hears none asks again. */
  #hearOfGrants({ holder }: LockRequest): void {
    const { inboxPrefix, message } = this.around;
    if (inboxPrefix === this.server.inboxPrefix) return;
    this.server.foreignChannels.listen(inboxPrefix + holder.slice(0, holder.indexOf('/')), message);
  }

  #run<Result>(
    script: DialectScript,
    asked: Asked,
    operands: Operands,
    read: (reply: unknown) => Result,
  ): Promise<Result> {
    const keys = this.#keys(asked, script.keys);
    const request = requestOf(asked);
    const run = {
      script,
      keys: script.keyList(keys),
      args: script.argList({ ...this.#operands(request, keys.lock), ...operands }),
      key: asked.key,
      read,
    };
    return this.server.at(keys.lock, asked.key, (node) => node.run(run));
  }

  /** An acquisition also names the keys of its release: without a right to one of them, nothing is taken. */
  #keyList(script: DialectScript, keys: Keys): KeyList {
    const list = script.keyList(keys);
    const others = this.dialect.release.keys.filter((name) => !script.keys.includes(name));
    return others.length > 0 && script === this.dialect.acquire
      ? new KeyList([...list.keys, ...others.map((name) => keys[name]!)])
      : list;
  }

  #operands(request: LockRequest | undefined, lock: string): Operands {
    const asked = request && { holder: request.holder, ttl: request.ttl };
    return { ...asked, ...this.dialect.operands?.(request, lock) };
  }

  #wake({ key }: Asked): Wake | undefined {
    return this.dialect.wake?.(this.#redisKey(key));
  }

  #redisKey(key: string): string {
    const { prefix, suffix } = this.settings;
    return this.around.clientPrefix + prefix + key + suffix;
  }

  /** @throws LockOptionsError if the keys that a script has `used` (by default all) are in two slots of a Cluster: the lock could not be released. */
  #keys(asked: Asked, used?: readonly string[]): Keys {
    const lock = this.#redisKey(asked.key);
    const others = this.dialect.keys?.(lock, requestOf(asked));
    const slot = this.server.slotOf(lock);
    const [, apart] =
      Object.entries(others ?? {}).find(
        ([name, key]) => (used?.includes(name) ?? true) && this.server.slotOf(key) !== slot,
      ) ?? [];
    if (apart !== undefined) {
      throw new LockOptionsError(
        `Dialect "${this.settings.name}" keeps "${lock}" and "${apart}" in two slots of the Cluster. Put a part of the name in braces, on both sides: "{${asked.key}}".`,
      );
    }
    const base = baseOf(lock);
    const fence = fenceKey(
      this.around.clientPrefix + this.settings.prefix,
      this.server.fenceTagOf(lock),
    );
    return {
      lock,
      fence,
      ...Object.fromEntries(BESIDE.map((name) => [name, `${base}:${name}`])),
      ...others,
    };
  }
}

function requestOf(asked: Asked): LockRequest | undefined {
  return 'holder' in asked ? asked : undefined;
}

const SPEAKERS: Readonly<
  Record<
    Exclude<LockFormat['family'], 'native'>,
    (settings: LockFormat, clientPrefix: string) => Dialect
  >
> = {
  plain,
  timestamp,
  redisson,
  symfony: () => symfony,
  spring,
  'python-redis-lock': pythonRedisLock,
};

/** Returns the format of a dialect for a Redis client that puts a prefix before every key. */
export function speak(settings: LockFormat, clientPrefix: string): Dialect {
  return SPEAKERS[settings.family as keyof typeof SPEAKERS](settings, clientPrefix);
}

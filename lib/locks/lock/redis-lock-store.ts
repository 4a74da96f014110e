import { type Clock, type ModuleSettings, momentOf } from '../../options/index.js';
import { TAKE_OVER_PAUSE } from '../../protocol/constants.js';
import {
  type LockServer,
  lockServer,
  type OutageListener,
  prefixOf,
  rightsFor,
} from '../../redis/index.js';
import { scripts as condition } from '../condition/scripts.js';
import { boundedLeases } from '../quarantine/bounded-leases.js';
import { Generation } from '../quarantine/generation.js';
import { requestAt } from '../entry.js';
import { newProcessId } from '../holder.js';
import { lockNames, type NameSearch } from '../lock-names.js';
import type { Grant } from '../grant.js';
import type { LockStore, PushListener, StoreDescription } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { LockSteps } from '../lock-steps.js';
import { messageOf } from '../reply.js';
import { scripts as shares } from '../shares/scripts.js';
import { RedisLocks } from './redis-locks.js';
import { scripts as alone } from './scripts.js';

/** Every step of native locks. */
const NATIVE = [alone, shares, condition].flatMap((steps) => Object.values(steps));

/** The lock on a Redis or a Cluster, with the inbox through which it pushes grants. */
export class RedisLockStore implements LockStore {
  readonly processId: string;
  readonly lock: RedisLocks;
  readonly #server: LockServer;
  readonly #prefix: string;
  readonly #generation: Generation | undefined;
  /** A grant that is pushed was written by another's connection: it is confirmed before anybody hears of it. */
  readonly #confirms: boolean;
  /** When a lease that is pushed is renewed first. */
  readonly #renewIn: number | undefined;
  #listener: PushListener | undefined;

  constructor(settings: ModuleSettings, clock: Clock, outages?: OutageListener) {
    this.processId = newProcessId(settings.guard);
    const prefix = (this.#prefix = prefixOf(settings.redis) + settings.keyPrefix);
    const inbox = `${prefix}inbox:`;
    const { ttl, dialect } = settings.call;
    const generation = (this.#generation =
      settings.durability === 'refuse' ? new Generation(prefix, ttl, clock) : undefined);
    this.#server = lockServer(
      settings.redis,
      settings.commandTimeout,
      clock,
      inbox,
      this.processId,
      {
        ...settings,
        admit: generation?.admit,
        outages,
        rights: dialect ? undefined : rightsFor(prefix, NATIVE), // a dialect tries its own
      },
    );
    this.#confirms = settings.replicas !== undefined;
    this.#renewIn = settings.guard ? TAKE_OVER_PAUSE : undefined;
    const { waitersPerKey } = settings.limits;
    const guarded = settings.guard ?? false;
    const steps = new LockSteps(this.#server, prefix, waitersPerKey, this.#message, guarded);
    const freed = (lock: string): void => this.#listener?.kept(lock, 0);
    const before = generation && boundedLeases(ttl, (key) => generation.check(key));
    this.lock = new RedisLocks(steps, prefixOf(settings.redis), freed, before);
  }

  get ready(): boolean {
    return this.#server.ready;
  }

  open(listener: PushListener): Promise<void> {
    this.#listener = listener;
    return this.#server.open({
      message: this.#message,
      reconnected: () => listener.reconnected(),
    });
  }

  names(search: NameSearch): Promise<string[]> {
    const { dialect } = search;
    const ours = { type: 'string', prefix: this.#prefix, suffix: '' } as const;
    const where = dialect ? this.lock.whereabouts(dialect) : ours;
    return lockNames(this.#server, where, search);
  }

  pushMissed(): void {
    this.#server.replaceChannel();
  }

  describe(): StoreDescription {
    const { found, warnings } = this.#server.describe();
    return { found, warnings: [...warnings, ...(this.#generation?.warnings ?? [])] };
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  readonly #message = (text: string): void => {
    const listener = this.#listener!;
    const message = messageOf(text);
    if (message?.kind === 'forced') {
      return message.holders.forEach((holder) => listener.forced(holder));
    }
    const lock = message?.redisKey.slice(this.#prefix.length) ?? '';
    if (message?.kind === 'kept') return listener.kept(lock, message.rest);
    const request = message && requestAt(message.entry, lock);
    if (!request) return;
    const { kind, redisKey, at, remaining, fencingToken, tokens, batch } = message;
    const sent = this.#server.clockOf(redisKey)?.momentAt(at, momentOf(this.#server.time));
    const signalled = request.condition !== undefined;
    const renewIn = this.#renewIn;
    const grant = sent && {
      kind,
      sent,
      remaining,
      fencingToken,
      tokens,
      signalled,
      renewIn,
      batch,
    };
    if (grant && this.#confirms) void this.#confirm(request, grant, listener);
    else listener.granted(request, grant);
  };

  /** Writes the grant's lease once more, on a connection of ours: who waits for it asks, if replicas do not have it. */
  async #confirm(request: LockRequest, grant: Grant, listener: PushListener): Promise<void> {
    try {
      const { sent, remaining } = await this.lock.extend([{ ...request, ttl: grant.remaining }]);
      const [left] = remaining;
      const certain = typeof left === 'number';
      listener.granted(request, certain ? { ...grant, sent, remaining: left } : undefined);
    } catch {
      listener.granted(request, undefined);
    }
  }
}

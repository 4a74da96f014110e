import { ForeignLockError, LockStoreError } from '../../errors/index.js';
import {
  type Clock,
  type LockFormat,
  type ModuleSettings,
  momentOf,
  NATIVE,
} from '../../options/index.js';
import {
  type LockServer,
  lockServer,
  type OutageListener,
  prefixOf,
  rightsFor,
  saysOf,
} from '../../redis/index.js';
import { batchesBy } from '../batches.js';
import { boundedLeases, checkSteps, refuseWithoutQueue } from '../preconditions.js';
import { DialectLock } from '../dialects/dialect-lock.js';
import { requestAt } from '../entry.js';
import { MARK, newProcessId } from '../holder.js';
import { lockNames, type NameSearch } from '../lock-names.js';
import type { LockRequest } from '../lock-request.js';
import { isOne, LockSteps } from '../lock-steps.js';
import type {
  Answer,
  Extension,
  Grant,
  LockStore,
  Lost,
  PushListener,
  Snapshot,
  Signalled,
  StoreDescription,
  StoreHealth,
  Transferred,
} from '../lock-store.js';
import { conditions, exclusive, nativeScripts, scriptsOf } from '../native-scripts.js';
import { ServerEpoch } from '../server-epoch.js';
import { FIRST_LEASE, TOKEN_LEAD } from '../../protocol/constants.js';
import { messageOf } from '../reply.js';
import { snapshotOf } from '../snapshot.js';
import { validityOf } from '../validity.js';
import { FastPath } from './fast-path.js';

/**
 * The locks on a Redis or a Cluster, of every kind and format, with the inbox through which the server pushes grants. A holder
 * id belongs to one grant, and re-enters nothing. Waiters of all kinds are served in the order in which the server queued them:
 * a release hands the lock off. A crashed holder costs the rest of its lease; a crashed waiter at most 3 s.
 */
export class RedisLockStore implements LockStore {
  readonly processId: string;
  readonly #server: LockServer;
  readonly #prefix: string;
  /** The prefix that the Redis client itself puts before every key. */
  readonly #clientPrefix: string;
  /** The prefix of a key that health checks write: allowed to the Redis user, and no lock's. */
  readonly #healthPrefix: string;
  readonly #waitersPerKey: number;
  readonly #steps: LockSteps;
  /** The fast path, which is unused beside clients of the SETNX articles. */
  readonly #free: FastPath | undefined;
  readonly #dialects = new WeakMap<LockFormat, DialectLock>();
  readonly #epoch: ServerEpoch | undefined;
  /** Whether a pushed grant is confirmed before it is told: another connection wrote it, so its replicas are unknown. */
  readonly #confirms: boolean;
  #listener: PushListener | undefined;

  constructor(
    settings: ModuleSettings,
    clock: Clock,
    private readonly outages?: OutageListener,
    server = lockServer,
  ) {
    const { keyPrefix, redis, commandTimeout, durability, limits, timestampCompat } = settings;
    const { ttl, format } = settings.call;
    this.processId = newProcessId(timestampCompat);
    this.#clientPrefix = prefixOf(redis);
    const prefix = (this.#prefix = this.#clientPrefix + keyPrefix);
    const epoch = durability === 'refuse' ? new ServerEpoch(prefix, ttl, clock) : undefined;
    this.#epoch = epoch;
    this.#healthPrefix = this.#clientPrefix + (format === NATIVE ? keyPrefix : format.prefix);
    this.#server = server(redis, commandTimeout, clock, `${prefix}inbox:`, this.processId, {
      ...settings,
      admit: epoch?.admit,
      outages,
      rights: format === NATIVE ? rightsFor(prefix, nativeScripts) : undefined, // a dialect tries its own commands
    });
    this.#confirms = settings.replicas !== undefined;
    this.#waitersPerKey = limits.waitersPerKey;
    const steps = new LockSteps(
      this.#server,
      prefix,
      limits.waitersPerKey,
      this.#message,
      timestampCompat,
    );
    this.#steps = steps;
    if (!timestampCompat) this.#free = new FastPath(steps, this.processId, this.#confirms);
    if (!epoch) return;
    const before = boundedLeases(ttl, (key) => epoch.check(key));
    checkSteps(this, before);
  }

  get ready(): boolean {
    return this.#server.ready;
  }

  open(listener: PushListener): Promise<void> {
    this.#listener = listener;
    return this.#server.open({
      message: this.#message,
      reconnected: () => listener.reconnected(),
      unheard: this.#unheard,
    });
  }

  acquire(request: LockRequest): Promise<Answer> {
    const dialect = this.#dialect(request.format);
    if (dialect) return dialect.acquire(request);
    return this.#server.take(this.#free?.acquire(request) ?? this.#steps.acquire(request));
  }

  release(
    request: LockRequest,
    minHoldRest: number,
    served?: readonly LockRequest[],
  ): Promise<boolean> {
    const dialect = this.#dialect(request.format);
    if (dialect) return dialect.release(request, minHoldRest);
    const free = this.#free?.release(request, minHoldRest, served);
    return this.#server.take(free ?? this.#steps.release(request, minHoldRest, served));
  }

  leave(request: LockRequest, served?: readonly LockRequest[]): Promise<boolean> {
    const dialect = this.#dialect(request.format);
    return dialect?.leave(request) ?? this.#server.take(this.#steps.leave(request, served));
  }

  /** A batch has leases of one kind; in a dialect, one lease. */
  batches(requests: readonly LockRequest[]): number[][] {
    const kindOf = (request: LockRequest): unknown =>
      request.format === NATIVE ? scriptsOf(request) : request;
    return batchesBy(requests, kindOf, (own) => this.#steps.batches(own));
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    const dialect = this.#dialect(requests[0]!.format);
    return dialect?.extend(requests) ?? this.#server.take(this.#steps.extend(requests));
  }

  inspect(key: string, most: number, format?: LockFormat): Promise<Snapshot> {
    const dialect = this.#dialect(format);
    if (dialect) return dialect.inspect(key, most);
    const read = (reply: unknown): Snapshot => snapshotOf(reply, most);
    return this.#steps.run(exclusive.inspect, key, { most }, read);
  }

  async force(key: string, format?: LockFormat, sight?: string): Promise<boolean | 'another'> {
    const dialect = this.#dialect(format);
    if (dialect) return dialect.force(key, sight);
    const read = (reply: unknown): [done: number, detail: string] => reply as [number, string];
    let [done, detail] = [2, undefined as string | undefined];
    while (done === 2) {
      [done, detail] = await this.#steps.run(exclusive.force, key, { sight, marker: detail }, read);
    }
    if (done === 3) return 'another';
    if (done === 0 && detail !== 'none') throw new ForeignLockError(key, detail!);
    return done === 1;
  }

  async downgrade(request: LockRequest, token?: number): Promise<boolean> {
    const { key, holder, ttl } = request;
    refuseWithoutQueue('downgrade', request);
    return this.#steps.run(exclusive.downgrade, key, { holder, ttl, token }, isOne);
  }

  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    refuseWithoutQueue('transfer', request);
    return this.#steps.transfer(request, successor);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.#steps.run(exclusive.stamp, key, {}, (version) => {
      if (typeof version === 'string') throw new ForeignLockError(key, version);
      return (version as number) || undefined;
    });
  }

  signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    const { key, holder } = request;
    return this.#steps.run(conditions.signal, key, { holder, condition, most, last }, (reply) => {
      if (typeof reply === 'string') return reply as Lost;
      const [woken, rest] = reply as [number, string?];
      return { woken, last: rest };
    });
  }

  names(search: NameSearch): Promise<string[]> {
    const ours = { type: 'string', prefix: this.#prefix, suffix: '' } as const;
    const where = this.#dialect(search.format)?.whereabouts ?? ours;
    return lockNames(this.#server, where, search);
  }

  pushMissed(): void {
    this.#server.doubtChannel();
  }

  describe(): StoreDescription {
    const { found, warnings } = this.#server.describe();
    return { found, warnings: [...warnings, ...(this.#epoch?.warnings ?? [])] };
  }

  async health(within: number): Promise<StoreHealth> {
    const server = this.#server;
    const asked = server.health(this.#healthPrefix, within);
    const [servers, inbox] = await Promise.all([asked, server.hears(within)]);
    const problems = this.#epoch?.warnings ?? [];
    const isUp = problems.length === 0 && servers.some(({ status }) => status === 'up');
    return { isUp, servers, inbox, problems, warnings: server.describe().warnings };
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** The lock that speaks a dialect; undefined for the native format. */
  #dialect(format = NATIVE): DialectLock | undefined {
    if (format === NATIVE) return undefined;
    let lock = this.#dialects.get(format);
    if (!lock) {
      const prefix = this.#clientPrefix + format.prefix;
      lock = new DialectLock(this.#server, format, {
        clientPrefix: this.#clientPrefix,
        inboxPrefix: prefix + this.#server.inboxPrefix.slice(this.#prefix.length),
        waitersPerKey: this.#waitersPerKey,
        freed: (name) => this.#listener?.kept(name, 0),
        message: (text) => {
          const message = messageOf(text);
          if (message?.kind === 'held') this.#besideNative(requestAt(message.entry, ''));
        },
      });
      this.#dialects.set(format, lock);
    }
    return lock;
  }

  /** Reports a broken inbox; an error of the listener must not reach the connection. */
  readonly #unheard = (error: unknown): void => {
    if (!(error instanceof LockStoreError) || error.retryable) return;
    try {
      this.outages?.unheard?.(saysOf(error));
    } catch {}
  };

  readonly #message = (text: string): void => {
    const listener = this.#listener!;
    const message = messageOf(text);
    if (message?.kind === 'forced') {
      return message.holders.forEach((holder) => listener.forced(holder));
    }
    const lock = message?.redisKey.slice(this.#prefix.length) ?? '';
    if (message?.kind === 'kept') return listener.kept(lock, message.rest);
    const request = message && requestAt(message.entry, lock);
    if (!request || this.#besideNative(request)) return;
    const { kind, redisKey, at, remaining, fencingToken, tokens, batch } = message;
    if (!listener.waits(request.holder)) return listener.grantedToNobody(request);
    const isMinted =
      fencingToken === undefined || fencingToken + tokens - 1 <= at * 1_000 + TOKEN_LEAD;
    const sent =
      isMinted && remaining <= FIRST_LEASE
        ? this.#server.clockOf(redisKey)?.momentAt(at, momentOf(this.#server.time))
        : undefined; // without a trustworthy clock, the process asks
    const signalled = request.condition !== undefined;
    const { renewIn } = this.#steps;
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

  /** A waiter in a dialect may get the lock from the native queue. It then asks for the lock in its own format. Returns true for such a request. */
  #besideNative(request: LockRequest | undefined): boolean {
    if (!request?.holder.endsWith(MARK)) return false;
    const holder = request.holder.slice(0, -MARK.length);
    this.#listener!.granted({ ...request, holder }, undefined);
    return true;
  }

  /**
   * Extends a pushed lease, which another connection wrote: replicas confirm the writes of one connection alone. If they do not
   * confirm, the waiter asks. It asks also if the pushed lease has ended: the lease found may be a later one of the same entry,
   * with another token.
   */
  async #confirm(request: LockRequest, grant: Grant, listener: PushListener): Promise<void> {
    try {
      const { sent, remaining } = await this.extend([{ ...request, ttl: grant.remaining }]);
      const [left] = remaining;
      const certain = validityOf(grant, this.#server.time) === 'valid';
      listener.granted(
        request,
        certain && typeof left === 'number' ? { ...grant, sent, remaining: left } : undefined,
      );
    } catch {
      listener.granted(request, undefined);
    }
  }
}

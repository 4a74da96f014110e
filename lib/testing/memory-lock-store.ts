import { refuseDialect } from '../locks/before.js';
import { entryOf, requestAt } from '../locks/entry.js';
import { heldAlone, MARKERS, newProcessId } from '../locks/holder.js';
import { oncePerPermit } from '../locks/snapshot.js';
import type { NameSearch } from '../locks/lock-names.js';
import { lockId, type LockRequest } from '../locks/lock-request.js';
import type {
  Answer,
  Extension,
  Grant,
  LockStore,
  LockStrategy,
  Lost,
  PushListener,
  Snapshot,
  Signalled,
  StoreDescription,
  StoreHealth,
  Transferred,
} from '../locks/lock-store.js';
import {
  type Clock,
  type DialectSettings,
  keyMatcher,
  type ModuleSettings,
  type Moment,
  momentOf,
  READER,
} from '../options/index.js';
import { MemoryConditions } from './memory-conditions.js';
import type { Tokens } from './memory-lock.js';
import { MemoryQueue } from './memory-queue.js';
import { memoryHealth } from './memory-health.js';
import { failure, MemoryConnection, type MemoryServer, processIn } from './memory-server.js';

type LockName = Pick<LockRequest, 'key' | 'dialect'>;

/**
 * The locks in memory, in all their modes, as one process sees them, step for step what the Lua scripts in locks/ do. Stores on
 * one server compete as processes on one Redis do. Not re-entrant by itself. A lock in another service's format is one of
 * its own, apart from ours of that name, and nobody else is there; what is refused of it on Redis is refused here. Waiters
 * are served in the order in which they queued, by hand-off; a crash costs the rest of the lease, a crashed waiter at most 3 s.
 */
export class MemoryLockStore implements LockStore {
  readonly processId = newProcessId();
  readonly #connection: MemoryConnection;
  readonly #conditions: MemoryConditions;

  constructor(
    private readonly server: MemoryServer,
    private readonly settings: Pick<ModuleSettings, 'keyPrefix' | 'commandTimeout' | 'limits'>,
    private readonly clock: Clock = server.clock,
  ) {
    this.#connection = new MemoryConnection(server, settings.commandTimeout, clock);
    const queueOf = (lock: LockName): MemoryQueue => this.#queue(lock);
    const { waitersPerKey } = settings.limits;
    this.#conditions = new MemoryConditions(this.#connection, queueOf, waitersPerKey);
  }

  get ready(): boolean {
    return this.#connection.open;
  }

  async open(listener: PushListener): Promise<void> {
    this.#connection.open = true;
    this.server.subscribe(this.processId, {
      granted: ({ name, entry, ...pushed }) => {
        const request = requestAt(entry, name.slice(this.settings.keyPrefix.length))!;
        const signalled = request.condition !== undefined;
        const grant: Grant = { kind: 'held', sent: momentOf(this.clock), signalled, ...pushed };
        queueMicrotask(() => listener.granted(request, grant));
      },
      forced: (holder) => queueMicrotask(() => listener.forced(holder)),
      kept: (name, rest) =>
        queueMicrotask(() => listener.kept(name.slice(this.settings.keyPrefix.length), rest)),
      resumed: () => queueMicrotask(() => listener.reconnected()),
    });
  }

  async names({ pattern, most, mayBe, dialect }: NameSearch): Promise<string[]> {
    const matches = keyMatcher(pattern);
    const [before, after] = lockId({ key: '\0', dialect }).split('\0') as [string, string];
    const start = this.settings.keyPrefix + before;
    return this.server.values
      .keys()
      .filter((key) => key.startsWith(start) && key.endsWith(after))
      .filter((key) => this.server.values.get(key)?.type === 'string')
      .map((key) => key.slice(start.length, key.length - after.length))
      .filter((name) => matches(name) && mayBe(name))
      .slice(0, most);
  }

  pushMissed(): void {
    // memory loses no push
  }

  describe(): StoreDescription {
    return { found: 'A lock store in memory, for tests', warnings: [] };
  }

  async health(within: number): Promise<StoreHealth> {
    const server = await memoryHealth(this.#connection, within, this.clock);
    const isUp = server.status === 'up';
    return { isUp, servers: [server], inbox: isUp, problems: [], warnings: [] };
  }

  async close(): Promise<void> {
    this.#connection.open = false;
    this.server.unsubscribe(this.processId);
  }

  strategy(): LockStrategy {
    return this;
  }

  acquire(request: LockRequest): Promise<Answer> {
    if (request.condition) return this.#conditions.acquire(request);
    return this.#connection.send<Answer>(
      request.key,
      (sent) => {
        const { former } = request;
        const queue = this.#queue(request);
        const gaveBack = former !== undefined && queue.lock.isHeldBy(former);
        if (gaveBack) queue.lock.letGo(former);
        return { ...this.#ask(queue, request, sent, gaveBack), gaveBack };
      },
      () => ({ kind: 'late' }),
    );
  }

  release(
    request: LockRequest,
    keep: number,
    served: readonly LockRequest[] = [],
  ): Promise<boolean> {
    return this.#connection.send(request.key, () => {
      const { holder, share } = request;
      const queue = this.#queue(request);
      const { lock } = queue;
      queue.leave(...served.map(entryOf));
      if (!lock.isHeldBy(request)) return false;
      const before = lock.remaining;
      if (keep > 0) lock.hold(share ? `kept/${holder}` : MARKERS.kept, share, Math.ceil(keep));
      if (keep === 0 || share) lock.letGo(request);
      const left = lock.remaining;
      if (left > 0 && (left < before || !share)) {
        const first = queue.entries[0]?.process ?? '';
        this.server.inbox(first)?.kept(this.#name(request), left);
      }
      queue.grantNext(undefined, processIn(holder));
      return true;
    });
  }

  leave(request: LockRequest, served: readonly LockRequest[] = []): Promise<boolean> {
    if (request.condition) return this.#conditions.leave(request);
    return this.#connection.send(request.key, () => {
      const queue = this.#queue(request);
      const mine = queue.lock.isHeldBy(request);
      queue.leave(entryOf(request), ...served.map(entryOf));
      if (mine) queue.lock.letGo(request);
      queue.grantNext();
      return mine;
    });
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return [[...requests.keys()]];
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    const key = requests.length === 1 ? requests[0]!.key : undefined;
    return this.#connection.send(key, (sent) => ({
      sent,
      remaining: requests.map((request) => this.#queue(request).lock.extend(request)),
    }));
  }

  inspect(key: string, most: number, dialect?: DialectSettings): Promise<Snapshot> {
    return this.#connection.send(key, () => {
      const name = this.#name({ key, dialect });
      const { lock, entries, awaiting } = this.#queue({ key, dialect });
      const { mode, current = '' } = lock;
      const type = this.server.values.get(name)?.type ?? 'none';
      const now = this.server.now();
      return {
        type,
        ...heldAlone(type === 'string' && !mode ? current : ''),
        holders: oncePerPermit(lock.together, most),
        mode,
        sight: lock.sight,
        remaining: lock.remaining,
        fencingToken: lock.lastToken,
        waiting: entries.length,
        awaiting: awaiting.length,
        entries: entries
          .slice(0, most)
          .map(({ text, enqueuedAt }) => ({ entry: text, age: (now - enqueuedAt) / 1_000 })),
        now: now / 1_000,
      };
    });
  }

  force(key: string, dialect?: DialectSettings, sight?: string): Promise<boolean | 'another'> {
    return this.#connection.send(key, () => {
      const queue = this.#queue({ key, dialect });
      const { mode, together, current } = queue.lock;
      if (current === undefined) return false;
      queue.lock.refuseOtherType(key);
      if (sight !== undefined && queue.lock.sight !== sight) return 'another';
      const forced = mode ? together.map(({ holder }) => holder) : [heldAlone(current).holder];
      queue.lock.clear();
      queue.grantNext();
      for (const holder of forced) this.server.inbox(processIn(holder))?.forced(holder);
      return true;
    });
  }

  async downgrade(request: LockRequest, token?: number): Promise<boolean> {
    refuseDialect('downgrade', request);
    return this.#connection.send(request.key, () => {
      const queue = this.#queue(request);
      const { lock } = queue;
      if (lock.isHeldBy({ ...request, share: READER })) return true;
      const left = lock.left({ ...request, share: undefined });
      if (left === undefined) return false;
      lock.clear();
      lock.hold(request.holder, READER, left);
      if (token !== undefined) lock.setVersion(token);
      queue.grantNext();
      return true;
    });
  }

  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    refuseDialect('transfer', request);
    return this.#connection.send(
      request.key,
      (sent) => ({ sent, remaining: this.#queue(request).lock.transfer(request, successor) }),
      () => {
        throw failure(request.key, 'it was reached too late', 'unsent');
      },
    );
  }

  signal(request: LockRequest, condition: string, most: number): Promise<Signalled | Lost> {
    return this.#conditions.signal(request, condition, most);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.#connection.send(key, () => this.#queue({ key }).lock.version(key));
  }

  #ask(queue: MemoryQueue, request: LockRequest, sent: Moment, gaveBack: boolean): Answer {
    const { key, share, ttl } = request;
    const { lock } = queue;
    const isNext = (): boolean => queue.entries.length === 0 && lock.fits(share);
    const held = (remaining: number, tokens: Tokens): Answer => ({
      kind: 'held',
      sent,
      remaining,
      ...tokens,
    });
    const take = (): Answer => held(ttl, lock.grant(request, ttl));

    lock.refuseForeign(key, share);
    const left = lock.left(request);
    if (left !== undefined) return held(left, lock.tokensOf(request));
    if (isNext()) return take();
    if (!request.queue) {
      queue.grantNext();
      return isNext() ? take() : { kind: 'busy' };
    }

    const text = entryOf(request);
    const known = queue.find(text);
    const came = known || gaveBack || request.enqueuedAt !== undefined;
    const room = came ? 1 : this.settings.limits.waitersPerKey - queue.entries.length;
    const dead = room > 0 ? [] : queue.deadAmong(queue.entries, request);
    if (room + dead.length <= 0) {
      queue.forget(dead);
      queue.grantNext();
      return { kind: 'full' };
    }
    const before = request.enqueuedAt === undefined ? undefined : Number(request.enqueuedAt);
    const entry = known ?? queue.join(request, text, before);
    queue.forget(dead);
    queue.heartbeat(entry.process);
    const granted = queue.grantNext(text);
    if (granted) return held(ttl, granted);
    const remaining = lock.mode === 'permits' ? lock.together[0]!.remaining : lock.remaining;
    return queue.answer(entry, remaining, !known && before !== undefined);
  }

  #queue(lock: LockName): MemoryQueue {
    return new MemoryQueue(this.server, this.#name(lock));
  }

  #name(lock: LockName): string {
    return this.settings.keyPrefix + lockId(lock);
  }
}

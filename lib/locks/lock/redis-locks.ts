import type { DialectSettings } from '../../options/index.js';
import { batchesBy } from '../batches.js';
import { type Before, checked } from '../before.js';
import { RedisConditions } from '../condition/redis-conditions.js';
import { DialectLock } from '../dialects/dialect-lock.js';
import { noDowngrade, noHandOver } from '../dialects/refusals.js';
import { speak } from '../dialects/speak.js';
import type { Whereabouts } from '../lock-names.js';
import type {
  Answer,
  Extension,
  LockKind,
  LockPrimitive,
  LockStrategy,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import type { LockSteps } from '../lock-steps.js';
import { RedisShares } from '../shares/redis-shares.js';
import { RedisLock } from './redis-lock.js';

/** A lock in another service's format, and how it is taken. */
interface Spoken {
  readonly lock: DialectLock;
  readonly strategy: LockStrategy;
}

/** The locks of one Redis or Cluster, of every kind and format. */
export class RedisLocks implements LockPrimitive {
  readonly #lock: RedisLock;
  readonly #conditions: RedisConditions;
  readonly #strategies: Readonly<Record<'exclusive' | 'shared' | 'awaiting', LockStrategy>>;
  readonly #dialects = new Map<DialectSettings, Spoken>();

  constructor(
    private readonly steps: LockSteps,
    /** What the client itself puts before every key. */
    private readonly clientPrefix: string,
    /** Told the `lockId` of a lock in another format that was given back. */
    private readonly freed: (lock: string) => void,
    private readonly before?: Before,
  ) {
    this.#lock = new RedisLock(steps);
    this.#conditions = new RedisConditions(steps);
    this.#strategies = {
      exclusive: checked(this.#lock, before),
      shared: checked(new RedisShares(steps), before),
      awaiting: checked(this.#conditions, before),
    };
  }

  strategy(kind: LockKind): LockStrategy {
    return kind.condition ? this.#strategies.awaiting : this.#holding(kind);
  }

  acquire(request: LockRequest): Promise<Answer> {
    return this.strategy(request).acquire(request);
  }

  release(request: LockRequest, keep: number, served?: readonly LockRequest[]): Promise<boolean> {
    return this.strategy(request).release(request, keep, served);
  }

  leave(request: LockRequest, served?: readonly LockRequest[]): Promise<boolean> {
    return this.strategy(request).leave(request, served);
  }

  /** None of two kinds or formats. */
  batches(requests: readonly LockRequest[]): number[][] {
    const strategyOf = (request: LockRequest): LockStrategy => this.#holding(request);
    return batchesBy(requests, strategyOf, (strategy, own) => strategy.batches(own));
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.#holding(requests[0]!).extend(requests);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return dialect
      ? this.#spoken(dialect).lock.inspect(key, places)
      : this.#lock.inspect(key, places);
  }

  async force(key: string, dialect?: DialectSettings): Promise<boolean> {
    this.before?.('force', { key, ttl: 0 });
    return dialect ? this.#spoken(dialect).lock.force(key) : this.#lock.force(key);
  }

  async downgrade(request: LockRequest): Promise<boolean> {
    this.before?.('downgrade', request);
    if (request.dialect) throw noDowngrade(request.dialect);
    return this.#lock.downgrade(request);
  }

  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    this.before?.('transfer', successor);
    if (request.dialect) throw noHandOver(request.dialect);
    return this.#lock.transfer(request, successor);
  }

  async stamp(key: string): Promise<number | undefined> {
    this.before?.('stamp', { key, ttl: 0 });
    return this.#lock.stamp(key);
  }

  async signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    this.before?.('signal', request);
    return this.#conditions.signal(request, condition, most, last);
  }

  /** Where the locks of a format stand. */
  whereabouts(dialect: DialectSettings): Whereabouts {
    return this.#spoken(dialect).lock.whereabouts;
  }

  #holding({ share, dialect }: LockKind): LockStrategy {
    if (dialect) return this.#spoken(dialect).strategy;
    return share ? this.#strategies.shared : this.#strategies.exclusive;
  }

  #spoken(dialect: DialectSettings): Spoken {
    let spoken = this.#dialects.get(dialect);
    if (!spoken) {
      const { steps, clientPrefix, freed, before } = this;
      const format = speak(dialect, clientPrefix);
      const lock = new DialectLock(steps.server, clientPrefix, dialect, format, freed);
      spoken = { lock, strategy: checked(lock, before) };
      this.#dialects.set(dialect, spoken);
    }
    return spoken;
  }
}

import { LockOptionsError } from '../../errors/index.js';
import type { DialectSettings } from '../../options/index.js';
import type {
  Answer,
  Extension,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';

/**
 * The same lock where a server may be in quarantine: no lease is longer than the quarantine, and whatever may
 * let somebody in waits for its end. What is held is renewed all the same.
 */
export class BoundedLeases implements LockPrimitive {
  constructor(
    private readonly lock: LockPrimitive,
    /** The longest lease, in ms. */
    private readonly longest: number,
    /** Throws in quarantine. */
    private readonly check: (key: string) => void = () => {},
  ) {}

  async acquire(request: LockRequest): Promise<Answer> {
    this.#bound(request);
    this.check(request.key);
    return this.lock.acquire(request);
  }

  async release(
    request: LockRequest,
    keep: number,
    passed?: readonly LockRequest[],
  ): Promise<boolean> {
    this.check(request.key);
    return this.lock.release(request, keep, passed);
  }

  async leave(request: LockRequest, passed?: readonly LockRequest[]): Promise<boolean> {
    this.check(request.key);
    return this.lock.leave(request, passed);
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return this.lock.batches(requests);
  }

  async extend(requests: readonly LockRequest[]): Promise<Extension> {
    for (const request of requests) this.#bound(request);
    return this.lock.extend(requests);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return this.lock.inspect(key, places, dialect);
  }

  async downgrade(request: LockRequest): Promise<boolean> {
    this.check(request.key);
    return this.lock.downgrade(request);
  }

  async transfer(request: LockRequest, heir: LockRequest): Promise<Transferred> {
    this.#bound(heir);
    this.check(request.key);
    return this.lock.transfer(request, heir);
  }

  async stamp(key: string): Promise<number | undefined> {
    this.check(key);
    return this.lock.stamp(key);
  }

  async signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    this.check(request.key);
    return this.lock.signal(request, condition, most, last);
  }

  async force(key: string, dialect?: DialectSettings): Promise<boolean> {
    this.check(key);
    return this.lock.force(key, dialect);
  }

  #bound({ key, ttl }: LockRequest): void {
    if (ttl <= this.longest) return;
    throw new LockOptionsError(
      `Lock "${key}" was asked for with a ttl of ${ttl} ms: where "durability" is 'refuse' no lease is longer than the module's "ttl" (${this.longest} ms).`,
      { key },
    );
  }
}

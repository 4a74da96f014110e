import type { DialectSettings } from '../options/index.js';
import { batchesBy } from './batches.js';
import type {
  Answer,
  Extension,
  HolderSteps,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from './lock-primitive.js';
import type { LockRequest } from './lock-request.js';

/** One lock that one may hold alone or several together, or give back until a condition comes true: each step goes to the mode of its request. */
export class Modes implements LockPrimitive {
  constructor(
    private readonly alone: Omit<LockPrimitive, 'signal'>,
    private readonly together: HolderSteps,
    private readonly awaiting: Pick<LockPrimitive, 'acquire' | 'leave' | 'signal'>,
  ) {}

  acquire(request: LockRequest): Promise<Answer> {
    return (request.condition ? this.awaiting : this.#mode(request)).acquire(request);
  }

  release(request: LockRequest, keep: number, passed?: readonly LockRequest[]): Promise<boolean> {
    return this.#mode(request).release(request, keep, passed);
  }

  leave(request: LockRequest, passed?: readonly LockRequest[]): Promise<boolean> {
    return (request.condition ? this.awaiting : this.#mode(request)).leave(request, passed);
  }

  /** None of two modes. */
  batches(requests: readonly LockRequest[]): number[][] {
    const modeOf = (request: LockRequest): HolderSteps => this.#mode(request);
    return batchesBy(requests, modeOf, (mode, own) => mode.batches(own));
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.#mode(requests[0]!).extend(requests);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return this.alone.inspect(key, places, dialect);
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return this.alone.force(key, dialect);
  }

  downgrade(request: LockRequest): Promise<boolean> {
    return this.alone.downgrade(request);
  }

  transfer(request: LockRequest, heir: LockRequest): Promise<Transferred> {
    return this.alone.transfer(request, heir);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.alone.stamp(key);
  }

  signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    return this.awaiting.signal(request, condition, most, last);
  }

  #mode(request: LockRequest): HolderSteps {
    return request.share ? this.together : this.alone;
  }
}

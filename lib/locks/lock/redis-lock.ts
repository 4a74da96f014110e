import { ForeignLockError } from '../../errors/index.js';
import type { Answer, Extension, LockPrimitive, Sight, Transferred } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { isOne, type LockSteps } from '../lock-steps.js';
import { entryOf } from '../entry.js';
import { scripts } from './scripts.js';
import { sightOf } from './sight.js';
import { versionOf } from './version.js';

/**
 * One holder at a time. Not re-entrant by itself: the holder id is one grant's. Waiters are served in
 * the order in which the server queued them, by hand-off in the release. A crash costs the rest of the
 * lease; a crashed waiter at most 3 s.
 */
export class RedisLock implements Omit<LockPrimitive, 'signal'> {
  constructor(private readonly steps: LockSteps) {}

  acquire(request: LockRequest): Promise<Answer> {
    return this.steps.acquire(scripts.acquire, request, { former: request.former?.holder });
  }

  release(
    { key, holder }: LockRequest,
    keep: number,
    passed?: readonly LockRequest[],
  ): Promise<boolean> {
    const { inbox } = this.steps;
    const operands = {
      holder,
      inbox,
      keep: keep > 0 ? Math.ceil(keep) : undefined,
      passed: passed?.map(entryOf).join(' '),
    };
    return this.steps.release(scripts.release, key, operands);
  }

  leave(request: LockRequest, passed: readonly LockRequest[] = []): Promise<boolean> {
    const { key, holder } = request;
    const { inbox } = this.steps;
    const places = [request, ...passed].map(entryOf).join(' ');
    return this.steps.run(scripts.leave, key, { holder, places, inbox }, isOne);
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return this.steps.batches(requests);
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.steps.extend(scripts.extend, requests);
  }

  inspect(key: string, places: number): Promise<Sight> {
    return this.steps.run(scripts.inspect, key, { most: places }, (reply) =>
      sightOf(reply, places),
    );
  }

  async force(key: string): Promise<boolean> {
    const { inbox } = this.steps;
    const step = (marker?: string): Promise<[done: number, said: string]> =>
      this.steps.run(scripts.force, key, { inbox, marker }, (reply) => reply as [number, string]);
    let [done, type] = await step();
    while (done === 2) [done, type] = await step(type);
    if (done === 0 && type !== 'none') throw new ForeignLockError(key, type);
    return done === 1;
  }

  downgrade({ key, holder }: LockRequest): Promise<boolean> {
    const { inbox } = this.steps;
    return this.steps.run(scripts.downgrade, key, { holder, inbox }, isOne);
  }

  transfer(request: LockRequest, heir: LockRequest): Promise<Transferred> {
    return this.steps.transfer(scripts.transfer, request, heir);
  }

  async stamp(key: string): Promise<number | undefined> {
    return versionOf(await this.steps.run(scripts.stamp, key, {}, (reply) => reply), key);
  }
}

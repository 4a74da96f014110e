import { ForeignLockError, LockStoreError } from '../../errors/index.js';
import type { LockServer } from '../../redis/index.js';
import type { Answer, Extension, LockStrategy, Sight, Transferred } from '../lock-primitive.js';
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
export class RedisLock implements LockStrategy {
  protected readonly server: LockServer;

  constructor(protected readonly steps: LockSteps) {
    this.server = steps.server;
  }

  acquire(request: LockRequest): Promise<Answer> {
    const former = request.former?.holder;
    return this.server.take(this.steps.acquire(scripts.acquire, request, { former }));
  }

  release(
    { key, holder }: LockRequest,
    keep: number,
    served?: readonly LockRequest[],
  ): Promise<boolean> {
    const { inbox } = this.steps;
    const operands = {
      holder,
      inbox,
      keep: keep > 0 ? Math.ceil(keep) : undefined,
      served: served?.map(entryOf).join(' '),
    };
    return this.server.take(this.steps.release(scripts.release, key, operands));
  }

  leave(request: LockRequest, served: readonly LockRequest[] = []): Promise<boolean> {
    const { key, holder } = request;
    const { inbox } = this.steps;
    const places = [request, ...served].map(entryOf).join(' ');
    return this.server.take(this.steps.step(scripts.leave, key, { holder, places, inbox }, isOne));
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return this.steps.batches(requests);
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.server.take(this.steps.extend(scripts.extend, requests));
  }

  inspect(key: string, places: number): Promise<Sight> {
    const read = (reply: unknown): Sight => sightOf(reply, places);
    return this.server.take(this.steps.step(scripts.inspect, key, { most: places }, read));
  }

  async force(key: string): Promise<boolean> {
    const { server, steps } = this;
    const { inbox } = steps;
    const read = (reply: unknown): [done: number, said: string] => reply as [number, string];
    const step = (marker?: string): Promise<[done: number, said: string]> =>
      server.take(steps.step(scripts.force, key, { inbox, marker }, read));
    let [done, type] = await step();
    while (done === 2) [done, type] = await step(type);
    if (done === 0 && type !== 'none') throw new ForeignLockError(key, type);
    return done === 1;
  }

  downgrade({ key, holder }: LockRequest): Promise<boolean> {
    const { inbox } = this.steps;
    return this.server.take(this.steps.step(scripts.downgrade, key, { holder, inbox }, isOne));
  }

  /** @throws LockStoreError if it came too late: nothing happened then. */
  async transfer(request: LockRequest, successor: LockRequest): Promise<Transferred> {
    const step = this.steps.transfer(scripts.transfer, request, successor);
    let answer = await this.server.take(step);
    // After a sleep the server's clock is ahead of what we know of it, until it has said so.
    if (answer === 'late') answer = await this.server.take(step);
    if (answer !== 'late') return answer;
    const { key } = request;
    throw new LockStoreError(`Lock "${key}" was handed on too late.`, { key, outcome: 'unsent' });
  }

  stamp(key: string): Promise<number | undefined> {
    const read = (reply: unknown): number | undefined => versionOf(reply, key);
    return this.server.take(this.steps.step(scripts.stamp, key, {}, read));
  }
}

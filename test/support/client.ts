import { NATIVE, type Share } from '../../lib/engine/options/index.js';
import { QuorumNotReachedError } from '../../lib/engine/errors/index.js';
import { QuorumLock } from '../../lib/engine/locks/quorum/quorum-lock.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type {
  Answer,
  Extended,
  Grant,
  LockStore,
  Queued,
} from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { later } from './later.js';
import { withSteps } from './world.js';

/** A process that takes single steps: it does nothing by itself but what tells it of a grant, and writes down what it is told. */
export class Client {
  readonly grants: { request: LockRequest; grant: Grant }[] = [];
  /** The holder ids that it was told of; some stand among the grants only when the answer to an ask has come. */
  readonly told = new Set<string>();
  readonly forced: string[] = [];
  reconnects = 0;
  /** Runs when it is told that a lock comes free. */
  onKept = (): void => {};
  /** The steps that it takes. */
  readonly lock: LockStore;
  /** The holder ids that it gave up. */
  readonly #ended = new Set<string>();

  constructor(
    readonly store: LockStore,
    private readonly share?: Share,
  ) {
    this.lock = withSteps(store, {
      release: (request, keep, served) => {
        this.#ended.add(request.holder);
        return store.release(request, keep, served);
      },
      leave: (request, served) => {
        this.#ended.add(request.holder);
        return store.leave(request, served);
      },
    });
  }

  open(): Promise<void> {
    return this.store.open({
      waits: () => true,
      grantedToNobody() {},
      granted: (request, grant) => {
        this.told.add(request.holder);
        void later(this.#told(request, grant));
      },
      forced: (holder) => void this.forced.push(holder),
      kept: () => this.onKept(),
      reconnected: () => void (this.reconnects += 1),
    });
  }

  request(options: Partial<Omit<LockRequest, 'holder'>> = {}): LockRequest {
    const holder = newHolderId(this.store.processId);
    return {
      key: 'k',
      ttl: 5_000,
      tokenBlock: 1,
      format: NATIVE,
      share: this.share,
      ...options,
      holder,
    };
  }

  /** Asks, and queues if the lock is not free. */
  ask(request: LockRequest, more: Partial<LockRequest> = {}): Promise<Answer> {
    return this.lock.acquire({ ...request, queue: true, wanted: () => true, ...more });
  }

  /** Asks once without queueing. */
  try(request: LockRequest): Promise<Answer> {
    return this.ask(request, { queue: false });
  }

  /** A request that was granted. */
  async hold(
    options: Partial<Omit<LockRequest, 'holder'>> = {},
  ): Promise<{ request: LockRequest; grant: Grant }> {
    const request = this.request(options);
    const grant = await this.#grant(request);
    if (grant.kind !== 'held') throw new Error(`The lock was not free but ${grant.kind}.`);
    return { request, grant };
  }

  /** The answer to an ask; of a quorum whose nodes are late, to one more. */
  async #grant(request: LockRequest): Promise<Answer> {
    for (let again = this.lock instanceof QuorumLock ? 5 : 0; again > 0; again -= 1) {
      const answer = await this.ask(request).catch((error: unknown) => {
        if (!(error instanceof QuorumNotReachedError)) throw error;
      });
      if (answer?.kind === 'held') return answer;
    }
    return this.ask(request);
  }

  /** A push that came when the server's clock had not been heard of lately says nothing of the time: an answer does. */
  async #told(request: LockRequest, grant: Grant | undefined): Promise<void> {
    if (!grant && this.#ended.has(request.holder)) return;
    const answer = grant ?? (await this.ask({ ...request, condition: undefined }));
    if (answer.kind === 'held') this.grants.push({ request, grant: answer });
  }

  /** A request that was queued. */
  async queue(
    options: Partial<Omit<LockRequest, 'holder'>> = {},
  ): Promise<{ request: LockRequest; entry: Queued }> {
    const request = this.request(options);
    const entry = await this.ask(request);
    if (entry.kind !== 'queued') throw new Error(`There was no queue: ${entry.kind}.`);
    return { request, entry };
  }

  /** Lengthens what is still held, in as many steps as it takes; in the order of the requests. */
  async extend(requests: readonly LockRequest[]): Promise<Extended[]> {
    const remaining = Array.from<Extended>({ length: requests.length });
    for (const batch of this.lock.batches(requests)) {
      const extension = await this.lock.extend(batch.map((at) => requests[at]!));
      batch.forEach((at, nth) => (remaining[at] = extension.remaining[nth]!));
    }
    return remaining;
  }

  /** The push that granted this request, if it came. */
  granted(request: LockRequest): Grant | undefined {
    return this.grants.find((push) => push.request.holder === request.holder)?.grant;
  }
}

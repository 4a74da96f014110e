import type { Share } from '../../lib/options/index.js';
import { QuorumNotReachedError } from '../../lib/errors/index.js';
import { QuorumLock } from '../../lib/locks/quorum/quorum-lock.js';
import { newHolderId } from '../../lib/locks/holder.js';
import type {
  Answer,
  Ask,
  Claim,
  Extended,
  Held,
  LockPrimitive,
  LockStore,
  PushListener,
  Queued,
} from '../../lib/locks/lock-primitive.js';

type Push = Parameters<PushListener['granted']>;

/** A process that takes single steps: it does nothing by itself and writes down what it is told. */
export class Client {
  readonly grants: { claim: Push[0]; grant: Push[1] }[] = [];
  readonly forced: string[] = [];
  reconnects = 0;
  /** Runs when it is told that a lock comes free. */
  onKept = (): void => {};

  constructor(
    readonly store: LockStore,
    readonly lock: LockPrimitive,
    private readonly share?: Share,
  ) {}

  open(): Promise<void> {
    return this.store.open({
      granted: (claim, grant) => void this.grants.push({ claim, grant }),
      forced: (holder) => void this.forced.push(holder),
      kept: () => this.onKept(),
      reconnected: () => void (this.reconnects += 1),
    });
  }

  claim(options: Partial<Omit<Claim, 'holder'>> = {}): Claim {
    const holder = newHolderId(this.store.processId);
    return { key: 'k', ttl: 5_000, tokens: 1, share: this.share, ...options, holder };
  }

  /** Asks, and queues if the lock is not free. */
  ask(claim: Claim, more: Partial<Ask> = {}): Promise<Answer> {
    return this.lock.acquire({ ...claim, queue: true, wanted: () => true, ...more });
  }

  /** Asks once without queueing. */
  try(claim: Claim): Promise<Answer> {
    return this.ask(claim, { queue: false });
  }

  /** A claim that was granted. */
  async hold(options: Partial<Omit<Claim, 'holder'>> = {}): Promise<{ claim: Claim; grant: Held }> {
    const claim = this.claim(options);
    const grant = await this.#grant(claim);
    if (grant.kind !== 'held') throw new Error(`The lock was not free but ${grant.kind}.`);
    return { claim, grant };
  }

  /** The answer to an ask; of a quorum whose nodes are late, to one more. */
  async #grant(claim: Claim): Promise<Answer> {
    for (let again = this.lock instanceof QuorumLock ? 5 : 0; again > 0; again -= 1) {
      const answer = await this.ask(claim).catch((error: unknown) => {
        if (!(error instanceof QuorumNotReachedError)) throw error;
      });
      if (answer?.kind === 'held') return answer;
    }
    return this.ask(claim);
  }

  /** A claim that was queued. */
  async queue(
    options: Partial<Omit<Claim, 'holder'>> = {},
  ): Promise<{ claim: Claim; place: Queued }> {
    const claim = this.claim(options);
    const place = await this.ask(claim);
    if (place.kind !== 'queued') throw new Error(`There was no queue: ${place.kind}.`);
    return { claim, place };
  }

  /** Lengthens what is still held, in as many steps as it takes; in the order of the claims. */
  async extend(claims: readonly Claim[]): Promise<Extended[]> {
    const remaining = Array.from<Extended>({ length: claims.length });
    for (const batch of this.lock.batches(claims)) {
      const extension = await this.lock.extend(batch.map((at) => claims[at]!));
      batch.forEach((at, nth) => (remaining[at] = extension.remaining[nth]!));
    }
    return remaining;
  }

  /** The push that granted this claim, if it came. */
  granted(claim: Claim): Push[1] | undefined {
    return this.grants.find((push) => push.claim.holder === claim.holder)?.grant;
  }
}

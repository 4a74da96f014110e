import type { LockRequest } from '../lock-request.js';
import type { QuorumNode } from './quorum-node.js';

/** The reply of extend.lua for a free lock. */
const FREE = -2;

/** The renewals of this process that some node has not answered yet. */
export class Renewals {
  readonly #underWay = new Set<Renewal>();

  begin(requests: readonly LockRequest[]): Renewal {
    const renewal = new Renewal(requests, () => this.#underWay.delete(renewal));
    this.#underWay.add(renewal);
    return renewal;
  }

  /** Ends the renewals of a holder that releases: no vote is restored for it from now on. */
  end({ holder }: LockRequest): void {
    for (const renewal of this.#underWay) renewal.ended.add(holder);
  }
}

/** One renewal of several leases on all nodes. */
class Renewal {
  readonly ended = new Set<string>();
  readonly #replies: [node: QuorumNode, reply: Promise<readonly number[]>][] = [];

  constructor(
    private readonly requests: readonly LockRequest[],
    private readonly over: () => void,
  ) {}

  ask(node: QuorumNode): Promise<readonly number[]> {
    const reply = node.extend(this.requests);
    this.#replies.push([node, reply]);
    return reply;
  }

  /** Restores votes on nodes that forgot a request, if a majority still `has` it. Restored votes count from the next renewal on. */
  async settle(has: (at: number) => boolean): Promise<void> {
    const revotes = this.#replies.map(async ([node, reply]) => {
      const left = await reply;
      const forgotten = this.requests.filter((_, at) => left[at] === FREE && has(at));
      const wanted = forgotten.filter(({ holder }) => !this.ended.has(holder));
      await Promise.allSettled(wanted.map((request) => node.revote(request)));
    });
    await Promise.allSettled(revotes);
    this.over();
  }
}

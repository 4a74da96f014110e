import { type Clock, momentOf } from '../../options/index.js';
import type { Answer, Extended, Extension, Grant, PushListener, Snapshot } from '../lock-store.js';
import type { LockRequest } from '../lock-request.js';
import { askAgain, backOff } from '../back-off.js';
import { batchesOf, LARGEST_BATCH } from '../batches.js';
import {
  type Ballot,
  isSettled,
  majorityOf,
  leaseStatus,
  nodeTimeout,
  notReached,
  poll,
  reachedByMajority,
  refuseForeign,
} from './ballot.js';
import { AcquireRound, TokenProposal } from './acquire-round.js';
import type { QuorumNode } from './quorum-node.js';
import { Renewals } from './renewals.js';
import { refuseUnsound, rejecting } from './quorum-limits.js';

/** The part of the command time-out within which a caller that asks once begins further attempts. */
const PATIENCE = 0.75;

/**
 * An exclusive lock, held by the votes of a majority of independent servers (Redlock). Not re-entrant by itself. There is no
 * queue: a waiter asks again after a random pause, in no order. A crash costs the rest of the lease.
 */
export class QuorumLock {
  /** The listener hears of each release too, so that a waiter of this process need not wait for its pause to end. */
  protected listener: PushListener | undefined;
  readonly #proposal: TokenProposal;
  readonly #renewals = new Renewals();
  #attempts = 0;

  readonly downgrade = rejecting('downgrade');
  readonly transfer = rejecting('transfer');
  readonly stamp = rejecting('stamp');
  readonly signal = rejecting('signal');

  constructor(
    protected readonly nodes: readonly QuorumNode[],
    private readonly commandTimeout: number,
    private readonly clock: Clock,
  ) {
    this.#proposal = new TokenProposal(clock);
  }

  async acquire(request: LockRequest): Promise<Answer> {
    const { former } = request;
    refuseUnsound(request);
    if (former) {
      const gaveBack = await this.release(former, 0);
      return { ...this.#queued(request), gaveBack }; // a caller that gives its former lease back lets others have their turn first
    }
    if (!request.queue) return this.#askOnce(request);
    const held = await this.#attempt(request, this.commandTimeout);
    return typeof held === 'object' ? held : this.#queued(request);
  }

  async release(request: LockRequest, minHoldRest: number): Promise<boolean> {
    this.#renewals.end(request);
    const released = await this.#ask(
      (node) => node.release(request, minHoldRest),
      (ballot) => leaseStatus(ballot.votes(Boolean)) !== undefined,
    );
    this.listener?.kept(request.key, 0);
    const votes = released.votes(Boolean);
    const lease = leaseStatus(votes);
    if (lease === 'unknown') throw notReached(request.key, votes);
    return lease === 'held';
  }

  /** Resolves when a majority has answered. A silent node withdraws its vote later, or the vote ends with the lease. */
  async leave(request: LockRequest): Promise<boolean> {
    this.#renewals.end(request);
    const left = await this.#answers(request.key, (node) => node.release(request, 0));
    return left.includes(true);
  }

  batches(requests: readonly LockRequest[]): number[][] {
    const slotOf = (key: string): number => Math.max(...this.nodes.map((node) => node.slotOf(key))); // some may have slots
    return batchesOf(requests, ({ key }) => slotOf(key), LARGEST_BATCH);
  }

  async extend(requests: readonly LockRequest[]): Promise<Extension> {
    const sent = momentOf(this.clock);
    const leaseOf = (
      ballot: Ballot<readonly number[]>,
      at: number,
    ): ReturnType<typeof leaseStatus> => leaseStatus(ballot.votes((left) => left[at]! >= 0));
    const renewal = this.#renewals.begin(requests);
    const extended = await this.#ask(
      (node) => renewal.ask(node),
      (ballot) => requests.every((_, at) => leaseOf(ballot, at) !== undefined),
      nodeTimeout(Math.min(...requests.map(({ ttl }) => ttl)), this.commandTimeout),
    );
    const remaining = requests.map((_, at): Extended => {
      const left = extended.cast.map((answers) => answers[at]!);
      const lease = leaseOf(extended, at);
      if (lease === 'held') return reachedByMajority(left, extended.nodes)!;
      if (lease === 'gone') return left.includes(-3) ? 'taken' : 'free';
      return 'unknown';
    });
    void renewal.settle((at) => typeof remaining[at] === 'number');
    if (remaining.some((lease) => lease !== 'unknown')) return { sent, remaining };
    const votes = extended.votes((left) => left[0]! >= 0);
    throw notReached(requests.length === 1 ? requests[0]!.key : undefined, votes);
  }

  async inspect(key: string): Promise<Snapshot> {
    const seen = await this.#answers(key, (node) => node.inspect(key), areAlike);
    return inCommon(seen, this.nodes.length);
  }

  async force(key: string, _format?: unknown, sight?: string): Promise<boolean | 'another'> {
    const found = await this.#answers(
      key,
      (node) => node.force(key, sight),
      (one, other) => one === other,
    );
    this.listener?.kept(key, 0);
    const majority = majorityOf(this.nodes.length);
    const count = (type: string): number => found.filter((each) => each === type).length;
    if (count('another') >= majority) return 'another';
    const foreign = found.filter((type) => !['none', 'string', 'another'].includes(type));
    refuseForeign(key, foreign, this.nodes.length);
    return count('string') >= majority;
  }

  /** Asks until the votes decide: while they are split, nobody holds the lock. */
  async #askOnce(request: LockRequest): Promise<Answer> {
    const { clock, commandTimeout } = this;
    const asked = clock.monotonic();
    for (let waited = 0; ;) {
      const held = await this.#attempt(request, (commandTimeout - waited) / 2);
      if (typeof held === 'object') return held;
      waited = clock.monotonic() - asked;
      const pause = backOff(waited);
      waited += pause;
      if (held === 'taken' || waited > commandTimeout * PATIENCE) return { kind: 'busy' };
      await new Promise<void>((resolve) => clock.after(pause, resolve));
      if (request.wanted?.() === false) return { kind: 'busy' };
    }
  }

  #attempt(request: LockRequest, within: number): Promise<Grant | 'taken' | 'split'> {
    this.#attempts += 1;
    const attempt = { request, number: this.#attempts, proposed: this.#proposal.now() };
    const timeout = nodeTimeout(request.ttl, within);
    return new AcquireRound(this.nodes, attempt, timeout, this.clock).run();
  }

  #queued(request: LockRequest): Answer {
    return askAgain(request, this.clock.monotonic());
  }

  /**
   * Collects answers within the command time-out, since no lease depends on them. A majority must answer; with `alike`, also
   * every node that can change which answer has a majority.
   */
  async #answers<Reply>(
    key: string,
    ask: (node: QuorumNode) => Promise<Reply>,
    alike: (one: Reply, other: Reply) => boolean = () => true,
  ): Promise<Reply[]> {
    const majority = majorityOf(this.nodes.length);
    const asked = await this.#ask(
      ask,
      (ballot) => ballot.cast.length >= majority && isSettled(ballot, alike),
      this.commandTimeout,
    );
    if (asked.cast.length >= majority) return asked.cast;
    const votes = asked.votes(() => false);
    throw notReached(key, votes);
  }

  #ask<Reply>(
    ask: (node: QuorumNode) => Promise<Reply>,
    decided: (ballot: Ballot<Reply>) => boolean,
    timeout = nodeTimeout(Infinity, this.commandTimeout),
  ): Promise<Ballot<Reply>> {
    const { nodes, clock } = this;
    return poll({ nodes, ask, timeout, decided, clock });
  }
}

/** True if two nodes see the same holder, or the same foreign type. */
function areAlike(one: Snapshot, other: Snapshot): boolean {
  return one.type === other.type && one.holder === other.holder;
}

/** The snapshot that a majority shares: held by its holder, of its foreign type, or else free. */
function inCommon(seen: readonly Snapshot[], nodes: number): Snapshot {
  const tokens = seen.map(({ fencingToken = 0 }) => fencingToken);
  const fencingToken = Math.max(...tokens) || undefined;
  const free = {
    ...seen[0]!,
    type: 'none',
    holder: '',
    sight: undefined,
    remaining: -2,
    fencingToken,
  };
  for (const { type, holder } of seen) {
    if (type === 'none') continue;
    const same = seen.filter((other) => other.type === type && other.holder === holder);
    if (same.length < majorityOf(nodes)) continue;
    const remaining = reachedByMajority(
      same.map((vote) => vote.remaining),
      nodes,
    )!;
    const minted = same.map(({ firstToken = 0 }) => firstToken); // a minority may have minted higher tokens for others
    const firstToken = reachedByMajority(minted, nodes) || undefined;
    return { ...free, type, holder, sight: holder, remaining, firstToken };
  }
  return free;
}

import { type Clock, type Moment, momentOf } from '../../options/index.js';
import type { Grant } from '../lock-store.js';
import {
  acquisition,
  type Ballot,
  isSettled,
  majorityOf,
  mostAlike,
  notReached,
  poll,
  refuseForeign,
} from './ballot.js';
import type { Attempt, QuorumNode, Vote } from './quorum-node.js';

/** How far the two clocks may part before their offset is measured anew, in ms. */
const STEP = 2;

/** Proposes fencing tokens: the wall clock in µs, with the resolution of the monotonic clock. */
export class TokenProposal {
  #offset: number;

  constructor(private readonly clock: Clock) {
    this.#offset = clock.wall() - clock.monotonic();
  }

  now(): number {
    const offset = this.clock.wall() - this.clock.monotonic();
    if (Math.abs(offset - this.#offset) > STEP) this.#offset = offset;
    return Math.round((this.clock.monotonic() + this.#offset) * 1_000);
  }
}

/** How far a proposal may lag behind a node's clock, in µs. An older one could be below a token that a node gave before it lost its data. */
const BEHIND = 1_000_000;

/** One attempt to win a majority of the nodes: a grant, or nothing that stays behind. */
export class AcquireRound {
  readonly #sent: Moment;

  constructor(
    private readonly nodes: readonly QuorumNode[],
    private readonly attempt: Attempt,
    /** The time-out of one node, in ms. */
    private readonly timeout: number,
    private readonly clock: Clock,
  ) {
    this.#sent = momentOf(clock);
  }

  /**
   * Resolves to the grant; to `taken` if a majority votes for one other holder, or keeps the lock for nobody; to `split` if
   * others have votes, but none a majority.
   * @throws QuorumNotReachedError if too few nodes answered; ForeignLockError if so many nodes have something else at the key
   * that nobody can win.
   */
  async run(): Promise<Grant | 'taken' | 'split'> {
    const { key, ttl, tokenBlock, queue } = this.attempt.request;
    const ballot = await this.#poll(
      (node) => node.acquire(this.attempt, this.timeout),
      isHeld,
      (denied) => queue || isSettled(denied, areAlike),
    );
    const votes = ballot.votes(isHeld);
    const outcome = acquisition(votes);
    if (outcome === 'granted') {
      const token = await this.#token(ballot);
      if (token !== undefined) {
        const fencingToken = tokenBlock === 0 ? undefined : token;
        return { kind: 'held', sent: this.#sent, remaining: ttl, fencingToken, tokens: tokenBlock };
      }
    }
    this.#takeBack(ballot);
    if (outcome === 'failed') throw notReached(key, votes);
    const foreign = ballot.cast.filter(({ kind }) => kind === 'foreign');
    const types = foreign.map(({ detail }) => String(detail));
    refuseForeign(key, types, this.nodes.length);
    const isTaken = mostAlike(ballot.cast, areAlike) >= majorityOf(this.nodes.length);
    return isTaken ? 'taken' : 'split';
  }

  /** Resolves to the first token that a majority remembers; undefined if the votes were lost meanwhile. */
  async #token({ cast }: Ballot<Vote>): Promise<number | undefined> {
    const { request, proposed } = this.attempt;
    if (request.tokenBlock === 0) return 0;
    const votes = cast.filter(isHeld);
    const latest = Math.max(...cast.map(({ now }) => now));
    const asProposed = votes.filter(({ detail }) => detail === proposed).length;
    if (asProposed >= majorityOf(this.nodes.length) && proposed >= latest - BEHIND) return proposed;
    const token = Math.max(...votes.map(({ detail }) => Number(detail)), latest);
    const last = token + request.tokenBlock - 1;
    const settled = await this.#poll((node) => node.settle(this.attempt, last), Boolean);
    const votesNow = settled.votes(Boolean);
    const outcome = acquisition(votesNow);
    if (outcome === 'granted') return token;
    if (outcome === 'denied') return undefined;
    this.#takeBack();
    throw notReached(request.key, votesNow);
  }

  /** Withdraws the votes of this attempt, also from nodes that have not answered: they may have voted. Nodes that denied are left out. */
  #takeBack(ballot?: Ballot<Vote>): void {
    for (const [at, node] of this.nodes.entries()) {
      const vote = ballot?.answers[at];
      if (!vote || isHeld(vote)) node.takeBack(this.attempt).catch(() => {});
    }
  }

  #poll<Answer>(
    ask: (node: QuorumNode) => Promise<Answer>,
    grants: (answer: Answer) => boolean,
    /** Returns true when further answers cannot change who has the denied votes. */
    explained: (ballot: Ballot<Answer>) => boolean | undefined = () => true,
  ): Promise<Ballot<Answer>> {
    const { nodes, timeout, clock } = this;
    const decided = (ballot: Ballot<Answer>): boolean => {
      const outcome = acquisition(ballot.votes(grants));
      return outcome === 'denied' ? explained(ballot) === true : outcome !== undefined;
    };
    return poll({ nodes, ask, timeout, decided, clock });
  }
}

function isHeld({ kind }: Vote): boolean {
  return kind === 'held';
}

/** True if two nodes vote for the same other holder. */
function areAlike(one: Vote, other: Vote): boolean {
  return one.kind === 'busy' && other.kind === 'busy' && one.detail === other.detail;
}

import { ForeignLockError, QuorumNotReachedError } from '../../errors/index.js';
import type { Clock } from '../../options/index.js';
import { deadline } from '../../redis/index.js';

/** The nodes' answers to one question, in their order; undefined for a node that failed or has not answered. */
export class Ballot<Answer> {
  readonly answers: (Answer | undefined)[];
  pending: number;
  failed = 0;

  constructor(readonly nodes: number) {
    this.answers = Array.from({ length: nodes });
    this.pending = nodes;
  }

  /** The answers so far. */
  get cast(): Answer[] {
    return this.answers.filter((answer): answer is Answer => answer !== undefined);
  }

  /** Counts the votes so far; `grants` tells which answers grant the request. */
  votes(grants: (answer: Answer) => boolean): Votes {
    const { nodes, pending, failed } = this;
    const granted = this.cast.filter(grants).length;
    return { nodes, granted, denied: nodes - pending - failed - granted, pending };
  }
}

/** A question to all nodes of a quorum. */
interface Poll<Node, Answer> {
  readonly nodes: readonly Node[];
  readonly ask: (node: Node) => Promise<Answer>;
  /** The time-out in ms: a node without an answer by then has failed. */
  readonly timeout: number;
  /** Returns true when missing answers cannot change the outcome. */
  readonly decided: (ballot: Ballot<Answer>) => boolean;
  readonly clock: Clock;
}

/** Asks all nodes at once; resolves when their answers decide, or at the time-out. Never rejects. */
export function poll<Node, Answer>({
  nodes,
  ask,
  timeout,
  decided,
  clock,
}: Poll<Node, Answer>): Promise<Ballot<Answer>> {
  const ballot = new Ballot<Answer>(nodes.length);
  return new Promise((resolve) => {
    let closed = false;
    const close = (): void => {
      closed = true;
      cancel();
      resolve(ballot);
    };
    const cancel = deadline(clock, timeout, () => {
      ballot.failed += ballot.pending;
      ballot.pending = 0;
      close();
    });
    const settled = (record: () => void): void => {
      if (closed) return;
      record();
      ballot.pending -= 1;
      if (ballot.pending === 0 || decided(ballot)) close();
    };
    for (const [at, node] of nodes.entries()) {
      ask(node).then(
        (answer) => settled(() => (ballot.answers[at] = answer)),
        () => settled(() => (ballot.failed += 1)),
      );
    }
  });
}

/** The votes of a quorum on one question. */
export interface Votes {
  readonly nodes: number;
  readonly granted: number;
  /** Nodes that answered, and did not grant. */
  readonly denied: number;
  /** Nodes that have not answered yet, nor failed. */
  readonly pending: number;
}

/** The error of a question that too few nodes answered: those that have not answered yet count as failed. */
export function notReached(
  key: string | undefined,
  { nodes, granted, denied }: Omit<Votes, 'pending'>,
): QuorumNotReachedError {
  const failed = nodes - granted - denied;
  return new QuorumNotReachedError(key, { nodes, granted, denied, failed });
}

/** The size of a majority: any two majorities share a node. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/**
 * The outcome of an acquisition, once missing answers cannot change it; undefined before. `denied`: a majority answered, but
 * does not grant. `failed`: no majority answers.
 */
export function acquisition({
  nodes,
  granted,
  denied,
  pending,
}: Votes): 'granted' | 'denied' | 'failed' | undefined {
  const majority = majorityOf(nodes);
  if (granted >= majority) return 'granted';
  if (granted + pending >= majority) return undefined;
  if (granted + denied >= majority) return 'denied';
  return granted + denied + pending >= majority ? undefined : 'failed';
}

/**
 * The status of a lease on a majority. A failed node may still have the lease, so it is `gone` only if so many nodes denied it
 * that no majority can be left.
 */
export function leaseStatus({
  nodes,
  granted,
  denied,
  pending,
}: Votes): 'held' | 'gone' | 'unknown' | undefined {
  const majority = majorityOf(nodes);
  if (granted >= majority) return 'held';
  if (denied > nodes - majority) return 'gone';
  return pending === 0 ? 'unknown' : undefined;
}

/** @throws ForeignLockError if so many nodes have another type at the key that no majority is left. */
export function refuseForeign(key: string, types: readonly string[], nodes: number): void {
  if (types.length > nodes - majorityOf(nodes)) throw new ForeignLockError(key, types[0]!);
}

/** The size of the largest group of equal answers. */
export function mostAlike<Answer>(
  cast: readonly Answer[],
  alike: (one: Answer, other: Answer) => boolean,
): number {
  return Math.max(0, ...cast.map((one) => cast.filter((other) => alike(one, other)).length));
}

/** True when missing answers cannot change which answer has a majority, if any. */
export function isSettled<Answer>(
  { cast, pending, nodes }: Ballot<Answer>,
  alike: (one: Answer, other: Answer) => boolean,
): boolean {
  const most = mostAlike(cast, alike);
  const majority = majorityOf(nodes);
  return most >= majority || most + pending < majority;
}

/** The largest value that a majority reaches. */
export function reachedByMajority(values: readonly number[], nodes: number): number | undefined {
  return [...values].sort((a, b) => b - a)[majorityOf(nodes) - 1];
}

/** The time-out of a node in ms: half of the time between two renewals, so that one may fail, and 500 ms at most. */
export function nodeTimeout(ttl: number, commandTimeout: number): number {
  return Math.min(commandTimeout, 500, ttl / 6);
}

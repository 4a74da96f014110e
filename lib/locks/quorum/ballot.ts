import type { Clock } from '../../options/index.js';
import { deadline } from '../../redis/index.js';

/** What the nodes answered to one question, in their order: undefined where a node failed or has not answered. */
export class Ballot<Answer> {
  readonly answers: (Answer | undefined)[];
  pending: number;
  failed = 0;

  constructor(readonly nodes: number) {
    this.answers = Array.from({ length: nodes });
    this.pending = nodes;
  }

  /** The answers that came. */
  get cast(): Answer[] {
    return this.answers.filter((answer): answer is Answer => answer !== undefined);
  }

  /** How many of them fulfil a condition. */
  count(condition: (answer: Answer) => boolean): number {
    let count = 0;
    for (const answer of this.answers) {
      if (answer !== undefined && condition(answer)) count += 1;
    }
    return count;
  }
}

/** A question to all nodes of a quorum. */
export interface Poll<Node, Answer> {
  readonly nodes: readonly Node[];
  readonly ask: (node: Node) => Promise<Answer>;
  /** In ms; who has not answered by then has failed. */
  readonly timeout: number;
  /** Whether what is still missing can change nothing. */
  readonly decided: (ballot: Ballot<Answer>) => boolean;
}

/** Asks all nodes at once; resolves as soon as their answers decide, or when the time is over. Never rejects. */
export function poll<Node, Answer>(
  { nodes, ask, timeout, decided }: Poll<Node, Answer>,
  clock: Clock,
): Promise<Ballot<Answer>> {
  const ballot = new Ballot<Answer>(nodes.length);
  return new Promise((resolve) => {
    let closed = false;
    const close = (): void => {
      if (closed) return;
      closed = true;
      cancel();
      resolve(ballot);
    };
    const cancel = deadline(clock, timeout, () => {
      ballot.failed += ballot.pending;
      ballot.pending = 0;
      close();
    });
    const settled = (): void => {
      ballot.pending -= 1;
      if (ballot.pending === 0 || decided(ballot)) close();
    };
    for (const [at, node] of nodes.entries()) {
      ask(node).then(
        (answer) => {
          if (closed) return;
          ballot.answers[at] = answer;
          settled();
        },
        () => {
          if (closed) return;
          ballot.failed += 1;
          settled();
        },
      );
    }
  });
}

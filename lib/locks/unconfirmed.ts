import type { Answer } from './lock-primitive.js';

// What becomes of an answer that too few replicas stand behind: `ScriptRun.unconfirmed` of each step.

/** An extension that too few replicas have, where a script answers with the ms left. */
export const UNCONFIRMED = -4;

/** Only a grant needs replicas. */
export function unlessHeld(answer: Answer, error: Error): Answer {
  if (answer.kind === 'held') throw error;
  return answer;
}

/** Only a lease that is handed on needs replicas. */
export function unlessGone(left: number | undefined, error: Error): number | undefined {
  if (left !== undefined && left >= 0) throw error;
  return left;
}

/** Only what was extended needs replicas; what is lost is lost. */
export function unlessLost(left: number[], error: Error): number[] {
  if (left.every((ms) => ms >= 0)) throw error;
  return left.map((ms) => (ms >= 0 ? UNCONFIRMED : ms));
}

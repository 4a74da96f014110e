import type { Answer, Extension, Transferred } from './lock-store.js';

// The effect of too few replicas on an answer: `ScriptRun.unconfirmed` of each step.

/** Rejects an unconfirmed grant; other answers need no replicas. */
export function unlessHeld(answer: Answer, error: Error): Answer {
  if (answer.kind === 'held') throw error;
  return answer;
}

/** Rejects an unconfirmed hand-over; a refusal needs no replicas. */
export function unlessGone(answer: Transferred | 'late', error: Error): Transferred | 'late' {
  if (answer !== 'late' && typeof answer.remaining === 'number') throw error;
  return answer;
}

/** Turns unconfirmed extensions into `unknown`; a lost lease stays lost. */
export function unlessLost({ sent, remaining }: Extension, error: Error): Extension {
  if (remaining.every((left) => typeof left === 'number')) throw error;
  return {
    sent,
    remaining: remaining.map((left) => (typeof left === 'number' ? 'unknown' : left)),
  };
}

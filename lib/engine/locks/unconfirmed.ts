import type { Answer, Extension, Transferred } from './lock-store.js';

// What becomes of an answer that too few replicas stand behind: `ScriptRun.unconfirmed` of each step.

/** Only a grant needs replicas. */
export function unlessHeld(answer: Answer, error: Error): Answer {
  if (answer.kind === 'held') throw error;
  return answer;
}

/** Only a lease that is handed on needs replicas. */
export function unlessGone(answer: Transferred | 'late', error: Error): Transferred | 'late' {
  if (answer !== 'late' && typeof answer.remaining === 'number') throw error;
  return answer;
}

/** Only what was extended needs replicas; what is lost is lost. */
export function unlessLost({ sent, remaining }: Extension, error: Error): Extension {
  if (remaining.every((left) => typeof left === 'number')) throw error;
  return {
    sent,
    remaining: remaining.map((left) => (typeof left === 'number' ? 'unknown' : left)),
  };
}

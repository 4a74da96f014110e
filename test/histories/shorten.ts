import type { Plan } from './plan.js';
import type { Outcome } from './run-history.js';

/** How often a history is played before it counts as right: it is not the same each time. */
const TRIES = 3;

/** The shortest plan that is found to fail as well: with fewer strokes, then with fewer callers. */
export async function shortened(
  plan: Plan,
  run: (plan: Plan) => Promise<Outcome>,
  say: (plan: Plan, outcome: Outcome) => void,
): Promise<Plan> {
  for (const shorter of shorterThan(plan)) {
    for (let tries = TRIES; tries > 0; tries -= 1) {
      const outcome = await run(shorter);
      if (outcome.violations.length === 0) continue;
      say(shorter, outcome);
      return shortened(shorter, run, say);
    }
  }
  return plan;
}

function shorterThan(plan: Plan): Plan[] {
  const { strokes, callers } = plan;
  const fewer = [
    [],
    ...strokes.map((stroke) => [stroke]),
    ...strokes.map((_, at) => strokes.toSpliced(at, 1)),
  ].filter(({ length }) => length < strokes.length);
  const plans = fewer.map((some) => ({ ...plan, strokes: some }));
  return callers > 1 ? [...plans, { ...plan, callers: callers >> 1 }] : plans;
}

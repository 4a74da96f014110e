import { Side } from '../builds/side.js';
import type { Cost, Work } from '../builds/work.js';
import { median } from '../measure/statistics.js';
import type { Site } from '../rounds.js';
import { LISTENERS, REFERENCES, type Watched, type Watching } from './rows.js';
import { buildWithoutEvents } from './without-events.js';

/** Rounds that are not counted: until the compiler has seen all of it. */
const PRACTICE = 8;

/** Each watcher in a process of its own, for subscribers hear of all locks of a process; all in turns. */
export async function watched(work: Work, rounds: number, { fleet, url }: Site): Promise<Watched> {
  const folders = {
    [REFERENCES.bare]: buildWithoutEvents(),
    [REFERENCES.quiet]: '.',
    ...Object.fromEntries(Object.entries(LISTENERS).map(([name, at]) => [name, `.@${at}`])),
  };
  const sides = new Map<string, Side>();
  try {
    for (const [name, folder] of Object.entries(folders)) {
      const side = await Side.open(folder, url, '6');
      sides.set(name, side);
      fleet.placeAlone(side.pid);
    }
    return { name: work.name, costs: compared(await inTurns([...sides], work, rounds)) };
  } finally {
    for (const side of sides.values()) side.stop();
  }
}

/** Every second round in the opposite order. */
async function inTurns(
  sides: readonly (readonly [string, Side])[],
  work: Work,
  rounds: number,
): Promise<Map<string, Cost[]>> {
  const costs = new Map<string, Cost[]>(sides.map(([name]) => [name, []]));
  for (let round = -PRACTICE; round < rounds; round += 1) {
    for (const [name, side] of round % 2 === 0 ? sides : sides.toReversed()) {
      const cost = await side.do(work);
      if (round >= 0) costs.get(name)!.push(cost);
    }
  }
  return costs;
}

function compared(costs: ReadonlyMap<string, readonly Cost[]>): Watching[] {
  return [...costs].map(([name, own]) => {
    const over = (reference: string, figure: keyof Cost = 'client'): number =>
      median(own.map((cost, round) => cost[figure] / costs.get(reference)![round]![figure]));
    return {
      name,
      client: median(own.map(({ client }) => client)),
      server: median(own.map(({ server }) => server)),
      wall: median(own.map(({ wall }) => wall)),
      ratios: {
        bare: over(REFERENCES.bare),
        quiet: over(REFERENCES.quiet),
        traced: over(REFERENCES.traced),
      },
      wallRatio: over(REFERENCES.quiet, 'wall'),
    };
  });
}

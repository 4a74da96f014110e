import type { Workload } from '../workloads/index.js';
import { violations } from './exclusion.js';
import { handOffs, ownerChanges } from './hand-off.js';
import { jain, percentile } from './statistics.js';
import type { Turns, Window } from './take-turns.js';

/** What one variant did in one round of one workload. */
export interface Figures {
  readonly sections: number;
  readonly perSecond: number;
  /** From acquire to the lock, in ms. */
  readonly acquireP50: number;
  readonly acquireP99: number;
  /** From one holder's release to the next one's lock, in ms; NaN where nobody waits. */
  readonly handOffP50: number;
  readonly handOffP99: number;
  readonly longestWait: number;
  /** How often the lock went from one caller to another: who takes it again at once hands nothing over. */
  readonly changesPerSecond: number;
  /** Jain's index over the callers' sections. */
  readonly fairness: number;
  readonly commandsPerSection: number;
  readonly gaveUp: number;
  /** Overlapping sections: anything but 0 is a broken lock. */
  readonly violations: number;
}

export function figures(
  { processes, callers, contended }: Workload,
  parts: readonly (Turns & { commands: number })[],
  { from, until }: Window,
): Figures {
  const all = parts.flatMap((part) => part.turns);
  const turns = all.filter(({ acquired }) => acquired < until);
  const perSecond = (count: number): number => (count / (until - from)) * 1_000;
  const waits = turns.map(({ asked, acquired }) => acquired - asked);
  const gaps = contended ? handOffs(turns) : [];
  const shares = Array.from({ length: processes * callers }, () => 0);
  for (const { caller } of turns) shares[caller]! += 1;
  const commands = parts.reduce((sum, part) => sum + part.commands, 0);
  return {
    sections: turns.length,
    perSecond: perSecond(turns.length),
    acquireP50: percentile(waits, 0.5),
    acquireP99: percentile(waits, 0.99),
    handOffP50: percentile(gaps, 0.5),
    handOffP99: percentile(gaps, 0.99),
    longestWait: percentile(waits, 1),
    changesPerSecond: contended ? perSecond(ownerChanges(turns)) : NaN,
    fairness: jain(shares),
    commandsPerSection: commands / all.length,
    gaveUp: parts.reduce((sum, part) => sum + part.gaveUp, 0),
    violations: violations(all),
  };
}

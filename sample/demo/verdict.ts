import { TTL } from '../app.module.js';
import type { Crash } from './crash.js';
import type { Trial } from './trial.js';

/** How much later than the ttl a deposit may be answered on a busy machine, in ms. */
const GRACE = 1_000;

/** What the lock has to answer for; nothing if it kept its promises. */
export function complaintsAbout(trials: readonly Trial[], { servedAfter }: Crash): string[] {
  const complaints: string[] = [];
  for (const { workload, locked, lostUpdates, wrongAccounts, failed } of trials) {
    if (!locked) continue;
    if (lostUpdates !== 0 || wrongAccounts !== 0) {
      complaints.push(
        `${workload}: ${lostUpdates} updates were lost under the lock, ${wrongAccounts} balances are wrong.`,
      );
    }
    if (failed > 0) complaints.push(`${workload}: ${failed} requests failed under the lock.`);
  }
  if (servedAfter === undefined) {
    complaints.push('The account of the killed replica was not served again.');
  } else if (servedAfter > TTL + GRACE) {
    complaints.push('The account of the killed replica was served again too late.');
  }
  return complaints;
}

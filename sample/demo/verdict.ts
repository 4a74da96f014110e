import { TTL } from '../app.module.js';
import type { Crash } from './crash.js';
import type { Trial } from './trial.js';

/** How much later than the ttl a deposit may be answered on a busy machine, in ms. */
const GRACE = 1_000;

/** What the lock has to answer for; nothing if it kept its promise. Without the lock, anything goes. */
export function complaintsAboutTrial(trial: Trial): string[] {
  const { workload, locked, lostUpdates, wrongAccounts, failed } = trial;
  if (!locked) return [];
  const complaints: string[] = [];
  if (lostUpdates !== 0 || wrongAccounts !== 0) {
    complaints.push(
      `${workload}: under the lock ${lostUpdates} updates were lost and ${wrongAccounts} balances are wrong.`,
    );
  }
  if (failed > 0) complaints.push(`${workload}: under the lock ${failed} requests failed.`);
  return complaints;
}

export function complaintsAboutCrash({ servedAfter }: Crash): string[] {
  if (servedAfter === undefined) return ['The account of the killed replica is not served again.'];
  return servedAfter > TTL + GRACE
    ? ['The account of the killed replica was served again, but too late.']
    : [];
}

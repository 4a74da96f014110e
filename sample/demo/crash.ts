import { setTimeout } from 'node:timers/promises';
import type { LockInspection } from 'nest-redis-lock';
import { TTL } from '../app.module.js';
import type { Replica } from './replica.js';

/** What became of an account whose lock died with its holder. */
export interface Crash {
  /** How long the account was not served, in ms; undefined if it never was again. */
  readonly servedAfter: number | undefined;
}

const ACCOUNT = '/accounts/left-behind';

/** Kills `victim` in the middle of a locked request; `survivor` has to serve the account again. */
export async function killInTheMiddle(victim: Replica, survivor: Replica): Promise<Crash> {
  const audit = victim.post(`${ACCOUNT}/audits`, { seconds: 60 }).catch(() => 'cut off');
  await lockIsHeldBy(victim, survivor);
  await setTimeout(TTL / 2); // by now the lease was renewed: only death ends it

  await victim.kill();
  const killed = performance.now();
  await audit;
  const { ok } = await survivor.post(`${ACCOUNT}/deposits`, { amount: 1 });
  return { servedAfter: ok ? performance.now() - killed : undefined };
}

async function lockIsHeldBy(holder: Replica, witness: Replica): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const lock = (await (await witness.get(`${ACCOUNT}/lock`)).json()) as LockInspection;
    if (lock.holder?.pid === holder.pid) return;
    await setTimeout(20);
  }
  throw new Error('An audit runs without its lock.');
}

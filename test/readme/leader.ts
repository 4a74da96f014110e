import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
// #region leader
import { CurrentLease, LeaderOnly, type Lease, LockService } from 'nest-redis-lock';

// #endregion
export const pulled: number[] = [];
// #region leader
@Injectable()
export class FeedService {
  @LeaderOnly('price-feed', { ttl: '5s' }) // every replica stands for election, from start-up to shutdown
  @Interval(1_000)
  async pull(@CurrentLease() lease?: Lease): Promise<void> {
    lease!.assertHeld(); // and lease.signal aborts when this replica is deposed
    pulled.push(lease!.fencingToken);
  }
}

/** The same by hand: for work that runs as long as one leads. */
export async function lead(locks: LockService, work: (signal: AbortSignal) => Promise<void>) {
  const election = locks.election('price-feed-by-hand', { ttl: '5s' });
  const lease = await election.campaign(); // waits until this replica leads
  try {
    await work(lease.signal);
  } finally {
    await election.resign(); // the next leads at once
  }
}
// #endregion

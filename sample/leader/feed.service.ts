import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CurrentLease, LeaderOnly, type Lease } from 'nest-redis-lock';
import { Prices } from './prices.js';

@Injectable()
export class FeedService {
  constructor(private readonly prices: Prices) {}

  /** Pulls the prices again and again, on the one replica that leads. The others are ready to follow. */
  @LeaderOnly('price-feed', { ttl: '5s' })
  @Interval(50)
  async pull(@CurrentLease() lease?: Lease): Promise<void> {
    lease!.assertHeld(); // before each step that only a leader may take; or hand lease.signal to fetch()
    this.prices.write(lease!.fencingToken);
  }
}

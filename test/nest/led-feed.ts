import { Injectable } from '@nestjs/common';
import { CurrentLease, LeaderOnly, type Lease, Locked, LockService } from '../../lib/index.js';

/** A feed that its leader alone pulls, and does what a test gives it as `work`. */
@Injectable()
export class Feed {
  runs = 0;
  leases: (Lease | undefined)[] = [];
  work: () => Promise<void> = async () => {};

  constructor(readonly locks: LockService) {}

  @LeaderOnly('feed', { ttl: '5s' })
  async pull(_count: number, @CurrentLease() lease?: Lease): Promise<void> {
    this.runs += 1;
    this.leases.push(lease, this.locks.current('leader:feed'));
    await this.work();
  }

  @LeaderOnly('feed', { ttl: '5s', onLost: 'ignore' })
  async ignorant(): Promise<void> {
    await this.work();
  }

  @Locked('feed:page')
  @LeaderOnly('feed', { ttl: '5s' })
  async below(): Promise<void> {
    this.runs += 1;
  }
}

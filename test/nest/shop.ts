// A shop of which one caller at a time sells, and a leader.
import { Injectable } from '@nestjs/common';
import { CurrentLease, LeaderOnly, type Lease, Locked, LockService } from '../../lib/index.js';

@Injectable()
export class Shop {
  led = 0;

  constructor(readonly locks: LockService) {}

  @Locked('shop', { wait: 0 })
  async sell<T>(work: () => Promise<T>, @CurrentLease() _lease?: Lease): Promise<T> {
    return work();
  }

  @LeaderOnly('shop')
  async lead(): Promise<void> {
    this.led += 1;
  }
}

import { Injectable } from '@nestjs/common';
import { CurrentLease, Lease, Locked, LockService } from '../../lib/index.js';
import { Balance } from '../support/balance.js';

type Work<T> = () => Promise<T>;

/** Accounts whose methods run one another under the lock of an account. */
@Injectable()
export class Accounts {
  readonly balance = new Balance();

  constructor(readonly locks: LockService) {}

  @Locked('account:<id>')
  async within<T>(id: string, work: Work<T>, @CurrentLease() _lease?: Lease): Promise<T> {
    return work();
  }

  @Locked('account:<_id>')
  async add(_id: string, amount: number): Promise<number> {
    return this.balance.add(amount);
  }

  @Locked('account:<_id>', { wait: 0 })
  async token(_id: string, @CurrentLease() lease?: Lease): Promise<number> {
    return lease!.fencingToken;
  }

  @Locked('account:<_id>', { wait: 0, reentrant: false })
  async stranger(_id: string): Promise<string> {
    return 'ran';
  }
}

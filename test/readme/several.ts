import { Injectable } from '@nestjs/common';
// #region several
import { CurrentLease, type Lease, Locked, lockKey } from 'nest-redis-lock';
// #endregion
import { balances } from './database.js';

// #region several

@Injectable()
export class PaymentService {
  @Locked(['account:<from>', 'account:<to>']) // both or none; withLock([a, b], …) likewise
  async pay(from: string, to: string, amount: number, @CurrentLease() lease?: Lease) {
    await balances.write(from, (await balances.read(from)) - amount);
    lease!.assertHeld(); // one lease over both: lost when one of them is
    await balances.write(to, (await balances.read(to)) + amount);
    return lease!.fencingTokenOf(lockKey`account:${to}`); // each lock has tokens of its own
  }
}
// #endregion

// #region bank
import { Injectable, Module } from '@nestjs/common';
import { Locked, RedisLockModule } from 'nest-redis-lock';
// #endregion
import { balances } from './database.js';
// #region bank

@Injectable()
export class AccountsService {
  @Locked('account:<id>')
  async withdraw(id: string, amount: number): Promise<number> {
    const balance = await balances.read(id); // no other replica is between this line …
    await balances.write(id, balance - amount); // … and this one, for this account
    return balance - amount;
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ redis: process.env['REDIS_URL'] })],
  providers: [AccountsService],
})
export class BankModule {}
// #endregion

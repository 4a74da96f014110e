import { Injectable, UnprocessableEntityException } from '@nestjs/common';
import { setTimeout } from 'node:timers/promises';
import { Locked, lockKey, LockService } from 'nest-redis-lock';
import { type Account, AccountsRepository } from './accounts.repository.js';

@Injectable()
export class AccountsService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly locks: LockService,
  ) {}

  balance(id: string): Promise<Account> {
    return this.accounts.find(id);
  }

  @Locked('account:<id>')
  async deposit(id: string, amount: number): Promise<Account> {
    return this.book(id, amount);
  }

  @Locked('account:<id>')
  async withdraw(id: string, amount: number): Promise<Account> {
    return this.book(id, -amount);
  }

  /** Every transfer locks the lesser id first: two that cross each other never wait for each other. */
  async transfer(from: string, to: string, amount: number): Promise<Account> {
    const [first, second] = [from, to].sort() as [string, string];
    return this.locks.withLock(lockKey`account:${first}`, () =>
      this.locks.withLock(lockKey`account:${second}`, async () => {
        // Both are @Locked, and find their lock held: here it is entered again, not waited for.
        const account = await this.withdraw(from, amount);
        await this.deposit(to, amount);
        return account;
      }),
    );
  }

  /** Takes its time; nobody moves money meanwhile. */
  @Locked('account:<id>')
  async audit(id: string, seconds: number): Promise<Account> {
    await setTimeout(seconds * 1_000);
    return this.accounts.find(id);
  }

  /** Reads, thinks and writes, as any ORM does: of two at the same time, one is lost. */
  protected async book(id: string, amount: number): Promise<Account> {
    const account = await this.accounts.find(id);
    await setTimeout(2);
    const balance = account.balance + amount;
    if (balance < 0) throw new UnprocessableEntityException('There is not enough money.');
    return this.accounts.save(id, { balance, bookings: account.bookings + 1 });
  }
}

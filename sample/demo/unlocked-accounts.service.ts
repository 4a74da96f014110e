import { Injectable } from '@nestjs/common';
import type { Account } from '../accounts/accounts.repository.js';
import { AccountsService } from '../accounts/accounts.service.js';

/** What the bank would be without its locks. */
@Injectable()
export class UnlockedAccountsService extends AccountsService {
  override async deposit(id: string, amount: number): Promise<Account> {
    return this.book(id, amount);
  }

  override async withdraw(id: string, amount: number): Promise<Account> {
    return this.book(id, -amount);
  }

  override async transfer(from: string, to: string, amount: number): Promise<Account> {
    const account = await this.withdraw(from, amount);
    await this.deposit(to, amount);
    return account;
  }
}

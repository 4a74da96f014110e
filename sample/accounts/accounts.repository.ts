import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';

export interface Account {
  readonly balance: number;
  /** How many deposits and withdrawals made this balance. */
  readonly bookings: number;
}

/** Accounts in Redis: plain GET and SET, nothing atomic. */
@Injectable()
export class AccountsRepository {
  constructor(private readonly redis: Redis) {}

  async find(id: string): Promise<Account> {
    const account = await this.redis.get(`account:${id}`);
    return account === null ? { balance: 0, bookings: 0 } : (JSON.parse(account) as Account);
  }

  async save(id: string, account: Account): Promise<Account> {
    await this.redis.set(`account:${id}`, JSON.stringify(account));
    return account;
  }
}

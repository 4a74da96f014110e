import { Body, Controller, Get, Param, ParseIntPipe, Post } from '@nestjs/common';
import { type LockInspection, lockKey, LockService } from 'nest-redis-lock';
import type { Account } from './accounts.repository.js';
import { AccountsService } from './accounts.service.js';

@Controller('accounts/:id')
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly locks: LockService,
  ) {}

  @Get()
  balance(@Param('id') id: string): Promise<Account> {
    return this.accounts.balance(id);
  }

  @Post('deposits')
  deposit(@Param('id') id: string, @Body('amount', ParseIntPipe) amount: number): Promise<Account> {
    return this.accounts.deposit(id, amount);
  }

  @Post('withdrawals')
  withdraw(
    @Param('id') id: string,
    @Body('amount', ParseIntPipe) amount: number,
  ): Promise<Account> {
    return this.accounts.withdraw(id, amount);
  }

  @Post('transfers')
  transfer(
    @Param('id') id: string,
    @Body('to') to: string,
    @Body('amount', ParseIntPipe) amount: number,
  ): Promise<Account> {
    return this.accounts.transfer(id, to, amount);
  }

  @Post('audits')
  audit(@Param('id') id: string, @Body('seconds', ParseIntPipe) seconds: number): Promise<Account> {
    return this.accounts.audit(id, seconds);
  }

  @Get('lock')
  lock(@Param('id') id: string): Promise<LockInspection> {
    return this.locks.inspect(lockKey`account:${id}`);
  }
}

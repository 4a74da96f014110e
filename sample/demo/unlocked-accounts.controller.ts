import { Controller } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import { AccountsController } from '../accounts/accounts.controller.js';
import { UnlockedAccountsService } from './unlocked-accounts.service.js';

/** The routes of the bank once more, without a lock behind them. */
@Controller('unlocked/accounts/:id')
export class UnlockedAccountsController extends AccountsController {
  constructor(accounts: UnlockedAccountsService, locks: LockService) {
    super(accounts, locks);
  }
}

// Accounts under locks of every name, of two modules in memory.
import { Controller, type INestApplication, Injectable, Param, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InjectLockService,
  LeaderOnly,
  Locked,
  LockedRequest,
  LockService,
} from '../../lib/index.js';
import {
  LockTestingModule,
  ManualClock,
  memoryLockService,
  MemoryServer,
} from '../../lib/memory/testing/index.js';

@Injectable()
export class Accounts {
  runs = 0;

  constructor(
    readonly locks: LockService,
    @InjectLockService('billing') readonly billing: LockService,
  ) {}

  @Locked('account:<id>')
  async withdraw(id: string): Promise<string> {
    return id;
  }

  @Locked(['account:<from>', 'account:<to>'])
  async move(from: string, to: string): Promise<string> {
    return from + to;
  }

  @Locked('account:<id>', { name: 'money' })
  async named(id: string): Promise<string> {
    return id;
  }

  @Locked((id: string) => `account:${id}`)
  async computed(id: string): Promise<string> {
    return id;
  }

  @Locked('mail:<to>', { permits: 2 })
  async send(to: string): Promise<string> {
    return to;
  }

  @Locked('invoice:<id>', { module: 'billing' })
  async bill(id: string): Promise<string> {
    return id;
  }

  @Locked('account:<id>', { onBusy: 'skip' })
  async skipped(id: string): Promise<void> {
    this.runs += id.length;
  }

  @LeaderOnly('feed')
  async led(): Promise<void> {
    this.runs += 1;
  }
}

@Controller('accounts')
class AccountsController {
  @Post(':id')
  @LockedRequest('account:<params.id>')
  async close(@Param('id') id: string): Promise<string> {
    return id;
  }
}

/** An application with them; another process leads the feed. */
export async function startAccounts(): Promise<INestApplication> {
  const server = new MemoryServer(new ManualClock());
  await memoryLockService({ server }).election('feed').campaign();
  const module = await Test.createTestingModule({
    imports: [
      LockTestingModule.forRoot({ server }),
      LockTestingModule.forRoot({ server, name: 'billing' }),
    ],
    controllers: [AccountsController],
    providers: [Accounts],
  }).compile();
  return module.createNestApplication({ logger: false }).init();
}

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Controller, type INestApplication, Injectable, Logger, Param, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import {
  InjectLockService,
  LeaderOnly,
  type Lease,
  Locked,
  LockedRequest,
  lockKey,
  LockService,
} from '../../lib/index.js';
import {
  LockTestingModule,
  ManualClock,
  memoryLockService,
  MemoryServer,
} from '../../lib/memory/testing/index.js';
import { Heard } from '../support/heard.js';

@Injectable()
class Accounts {
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

let app: INestApplication;
let accounts: Accounts;
let clock: ManualClock;
let heard: Heard;
beforeEach(async () => {
  clock = new ManualClock();
  const server = new MemoryServer(clock);
  await memoryLockService({ server }).election('feed').campaign();
  const module = await Test.createTestingModule({
    imports: [
      LockTestingModule.forRoot({ server }),
      LockTestingModule.forRoot({ server, name: 'billing' }),
    ],
    controllers: [AccountsController],
    providers: [Accounts],
  }).compile();
  app = await module.createNestApplication({ logger: false }).init();
  accounts = app.get(Accounts);
  heard = new Heard();
});
afterEach(async () => {
  heard[Symbol.dispose]();
  jest.restoreAllMocks();
  await app.close();
});

it.each<[string, (accounts: Accounts) => Promise<unknown>, object]>([
  ['its template', (to) => to.withdraw('7'), { name: 'account:<id>', key: 'account:7' }],
  [
    'its templates',
    (to) => to.move('2', '1'),
    { name: 'account:<from>, account:<to>', key: 'account:1, account:2' },
  ],
  ['what it says', (to) => to.named('7'), { name: 'money', key: 'account:7' }],
  ['class and method', (to) => to.computed('7'), { name: 'Accounts.computed', key: 'account:7' }],
  ['the name of a semaphore', (to) => to.send('7'), { name: 'mail:<to>', mode: 'permit' }],
  ['that of another module', (to) => to.bill('7'), { name: 'invoice:<id>', module: 'billing' }],
])('the locks of a decorator are called by %s', async (_, call, about) => {
  await call(accounts);
  expect(heard.calls).toMatchObject([{ module: undefined, ...about }]);
  const { name } = heard.calls[0]!;
  expect(heard.holds.length).toBeGreaterThan(0);
  expect(heard.holds.filter((hold) => hold.name !== name)).toEqual([]);
});

it('the lock of a request is called by its template', async () => {
  await request(app.getHttpServer()).post('/accounts/7').expect(201);
  expect(heard.calls).toMatchObject([{ name: 'account:<params.id>', key: 'account:7' }]);
});

it('a method that is skipped is told, by a busy lock and by an election', async () => {
  const told: string[] = [];
  accounts.locks.events.on('skipped', ({ by, name }) => told.push(`${by} ${name}`));
  const lease: Lease = await accounts.billing.acquire(lockKey`account:${7}`);
  await accounts.skipped('7');
  await lease.release();
  await accounts.led();
  expect(accounts.runs).toBe(0);
  const subject = { mode: 'exclusive', topology: 'memory', module: undefined };
  expect(heard.of('skipped')).toEqual([
    { by: 'busy', label: 'Accounts.skipped', name: 'account:<id>', key: 'account:7', ...subject },
    { by: 'election', name: 'leader:feed', key: 'leader:feed', ...subject },
  ]);
  expect(told).toEqual(['busy account:<id>', 'election leader:feed']);
});

it('a listener that throws harms neither the method nor its lock', async () => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
  for (const event of ['acquired', 'released'] as const) {
    accounts.locks.events.on(event, () => {
      throw new Error('of a listener');
    });
  }
  expect(await accounts.withdraw('7')).toBe('7');
  expect(logged).toHaveBeenCalledTimes(2);
  expect((await accounts.locks.inspect('account:7')).state).toBe('free');
  expect(heard.events).toEqual(['acquired', 'released']);
});

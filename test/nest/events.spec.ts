import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger } from '@nestjs/common';
import request from 'supertest';
import { type Lease, lockKey } from '../../lib/index.js';
import { Heard } from '../support/heard.js';
import { Accounts, startAccounts } from './accounts-in-memory.js';

let app: INestApplication;
let accounts: Accounts;
let heard: Heard;
beforeEach(async () => {
  app = await startAccounts();
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

import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { inspect, isDeepStrictEqual } from 'node:util';
import { Lease, LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { useBench } from '../support/nest-app.js';
import { Accounts, balance } from './locked-accounts.js';

const bench = useBench();

describe('a method under @Locked', () => {
  it('loses no update over two replicas', async () => {
    const replicas = [
      await bench.app({ providers: [Accounts] }),
      await bench.app({ providers: [Accounts] }),
    ].map((app) => app.get(Accounts));
    balance.value = 0;
    await Promise.all(Array.from({ length: 60 }, (_, at) => replicas[at % 2]!.deposit('7', 1)));
    expect(balance.value).toBe(60);
  });

  it('does not wait for a call with another key', async () => {
    const accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    const [entered, leave] = [new Gate(), new Gate()];
    const holding = accounts.hold('1', entered, leave);
    await entered.opened;
    await accounts.deposit('2', 1);
    leave.open();
    await holding;
  });

  it('has given the lock back when its caller goes on, after a success and after an error', async () => {
    const accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    const locks = await bench.rival();
    for (let round = 0; round < 20; round += 1) {
      await accounts.deposit('3', 1);
      expect((await locks.inspect('account:3')).state).toBe('free');
      await expect(accounts.fail('3')).rejects.toThrow(new TypeError('not enough money on 3'));
      expect((await locks.inspect('account:3')).state).toBe('free');
    }
  });

  it('has done so even when Redis takes its time', async () => {
    const accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    const admin = new Redis(bench.redis.url);
    const [entered, leave] = [new Gate(), new Gate()];
    const holding = accounts.hold('slow', entered, leave);
    await entered.opened;
    expect(await admin.exists('lock:account:slow')).toBe(1);
    await admin.client('PAUSE', 100, 'WRITE');
    leave.open();
    await holding;
    expect(await admin.exists('lock:account:slow')).toBe(0);
    admin.disconnect();
  });

  it('gets its lease in a parameter, whatever the caller puts there', async () => {
    const accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    const lease = await accounts.lease('4');
    expect(lease).toBeInstanceOf(Lease);
    expect(lease.key).toBe('account:4');
    expect(lease.held).toBe(false);
    expect(Number.isSafeInteger(lease.fencingToken)).toBe(true);
    const forged = {} as Lease;
    const next = await accounts.lease('4', undefined, forged);
    expect(next).not.toBe(forged);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('leaves nothing in its object that copies, comparisons, JSON or a log would show', async () => {
    const app = await bench.app({ providers: [Accounts] });
    const accounts = app.get(Accounts);
    await accounts.deposit('5', 1);
    expect(JSON.stringify(accounts)).toBe('{"name":"accounts"}');
    expect(Reflect.ownKeys(Object.assign({}, accounts))).toEqual(['name']);
    expect(structuredClone(accounts)).toEqual({ name: 'accounts' });
    expect(isDeepStrictEqual(accounts, new Accounts())).toBe(true);
    expect(inspect(accounts, { depth: 9 })).toBe("Accounts { name: 'accounts' }");
    const enumerated: string[] = [];
    for (const key in accounts) enumerated.push(key);
    expect(enumerated).toEqual(['name']);
    expect([accounts.deposit.name, accounts.deposit.length]).toEqual(['deposit', 2]);
    expect(app.get(LockService).current()).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import {
  ForeignLockError,
  Locked,
  LockedRequest,
  LockNotAcquiredError,
  LockOptionsError,
  LockUpgradeError,
} from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { Catalogue } from './catalogue.js';

const bench = useBench();

describe('shared mode', () => {
  it('lets readers in together, and no writer', async () => {
    const [a, b] = [
      (await bench.app({ providers: [Catalogue] })).get(Catalogue),
      (await bench.app({ providers: [Catalogue] })).get(Catalogue),
    ];
    const [entered, leave] = [new Gate(), new Gate()];
    const reading = a.read('1', entered, leave);
    await entered.opened;
    expect(await b.read('1')).toBe('read');
    await expect(b.write('1')).rejects.toThrow(LockNotAcquiredError);
    leave.open();
    await reading;
    expect(await b.write('1')).toBe('written');
  });

  it('may be taken inside an exclusive lease; the other way is an error at once', async () => {
    const catalogue = (await bench.app({ providers: [Catalogue] })).get(Catalogue);
    expect(await catalogue.writeThenRead('1')).toBe('read');
    await expect(catalogue.readThenWrite('1')).rejects.toThrow(LockUpgradeError);
    expect(await catalogue.write('1')).toBe('written');
  });

  it('is refused with an exclusive call inside, also through the service, unless it is not re-entrant', async () => {
    const locks = await bench.rival();
    const inside = locks.withLock('page', { mode: 'shared' }, async () => {
      await expect(locks.acquire('page')).rejects.toThrow(LockUpgradeError);
      await expect(locks.acquire('page', { reentrant: false, wait: 0 })).rejects.toThrow(
        LockNotAcquiredError,
      );
      const again = await locks.acquire('page', { mode: 'shared' });
      await again.release();
      return 'done';
    });
    expect(await inside).toBe('done');
  });

  it('begins where an exclusive lease ends, without a gap', async () => {
    const locks = await bench.rival();
    const other = await bench.rival();
    await locks.withLock('page', async (lease) => {
      const waiting = other.acquire('page', { mode: 'shared' });
      await lease.downgrade();
      expect(await other.inspect('page')).toMatchObject({ state: 'held', mode: 'shared' });
      await (await waiting).release();
      await expect(locks.acquire('page')).rejects.toThrow(LockUpgradeError);
    });
    expect((await other.inspect('page')).state).toBe('free');
  });

  it('is shown by inspect, with each reader', async () => {
    const locks = await bench.rival();
    const leases = [
      await locks.acquire('page', { mode: 'shared' }),
      await locks.acquire('page', { mode: 'shared' }),
    ];
    const { mode, holders, holder } = await locks.inspect('page');
    expect([mode, holder]).toEqual(['shared', undefined]);
    expect(holders).toMatchObject([{ pid: process.pid }, { pid: process.pid }]);
    await Promise.all(leases.map((lease) => lease.release()));
  });
});

describe('permits', () => {
  it('let so many in at a time, over two replicas', async () => {
    const apps = [
      await bench.app({ providers: [Catalogue] }),
      await bench.app({ providers: [Catalogue] }),
    ];
    const [a, b] = apps.map((app) => app.get(Catalogue)) as [Catalogue, Catalogue];
    let inside = 0;
    let most = 0;
    const count = {
      get: () => inside,
      set(value: number) {
        inside = value;
        most = Math.max(most, inside);
      },
    };
    for (const each of [a, b]) Object.defineProperty(each, 'inside', count);
    await Promise.all(Array.from({ length: 30 }, (_, at) => [a, b][at % 2]!.report('t')));
    expect([inside, most]).toEqual([0, 3]);
  });

  it('are taken by a semaphore of the service, one or several', async () => {
    const [semaphore, rival] = [
      (await bench.rival()).semaphore('exports', { permits: 3 }),
      (await bench.rival()).semaphore('exports', { permits: 3 }),
    ];
    const two = await semaphore.acquire({ count: 2 });
    expect(await rival.tryAcquire({ count: 2 })).toBeNull();
    const one = await rival.tryAcquire();
    expect(one!.fencingToken).toBeGreaterThan(two.fencingToken);
    await expect(rival.acquire({ wait: 20 })).rejects.toThrow(LockNotAcquiredError);
    expect(await two.release()).toBe(true);
    expect(await two.release()).toBe(true);
    expect(await rival.withPermit({ count: 2 }, (lease) => lease.held)).toBe(true);
    await one!.release();
  });

  it('are no re-entry: who asks again takes one more', async () => {
    const semaphore = (await bench.rival()).semaphore('exports', { permits: 2 });
    await semaphore.withPermit(async () => {
      await semaphore.withPermit(async () => {
        expect(await semaphore.tryAcquire()).toBeNull();
      });
    });
  });

  it('and a lock do not go by one name', async () => {
    const locks = await bench.rival();
    const semaphore = locks.semaphore('exports', { permits: 2 });
    await semaphore.withPermit(async () => {
      await expect(locks.acquire('exports')).rejects.toThrow(ForeignLockError);
    });
    await locks.withLock('exports', async () => {
      await expect(semaphore.acquire()).rejects.toThrow(ForeignLockError);
    });
  });

  it('are a whole number from 1, and nobody takes more than there are', async () => {
    const locks = await bench.rival();
    for (const permits of [0, -1, 1.5, NaN, Infinity, 10_001, '3' as never]) {
      expect(() => locks.semaphore('exports', { permits })).toThrow(LockOptionsError);
      expect(() => Locked('a', { permits })({}, 'b', { value: async () => {} })).toThrow(
        LockOptionsError,
      );
    }
    const semaphore = locks.semaphore('exports', { permits: 2 });
    await expect(semaphore.acquire({ count: 3 })).rejects.toThrow('"count"');
    await expect(semaphore.acquire({ mode: 'shared' } as never)).rejects.toThrow('neither');
    expect(() =>
      Locked('a', { permits: 2, mode: 'shared' })({}, 'b', { value: async () => {} }),
    ).toThrow('exclude each other');
    await expect(locks.acquire('a', { mode: 'reader' as never })).rejects.toThrow('"mode"');
  });
});

@Controller()
class Transfers {
  @Get('transfers/:from/:to')
  @LockedRequest(['account:<params.from>', 'account:<params.to>'])
  transfer(@Param('from') from: string, @Param('to') to: string): string {
    return `${from} to ${to}`;
  }
}

describe('several keys', () => {
  it('are one lock of a method, each once, in one order', async () => {
    const catalogue = (await bench.app({ providers: [Catalogue] })).get(Catalogue);
    expect(await catalogue.transfer('2', '1')).toBe('account:1, account:2');
    expect(await catalogue.transfer('1', '1')).toBe('account:1');
    expect(await catalogue.move('b', 'a')).toBe('account:a, account:b');
  });

  it('make no deadlock, however they are named', async () => {
    const catalogue = (await bench.app({ providers: [Catalogue] })).get(Catalogue);
    const calls = Array.from({ length: 40 }, (_, at) =>
      at % 2 ? catalogue.transfer('1', '2') : catalogue.transfer('2', '1'),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['account:1, account:2']));
  });

  it('come from a request too', async () => {
    const app = await bench.app({ controllers: [Transfers] });
    await app.listen(0);
    const locks = await bench.rival();
    const held = await locks.acquire('account:2');
    const waiting = fetch(`${await app.getUrl()}/transfers/3/2`);
    await untilWaiting(locks, 'account:2');
    expect((await locks.inspect('account:3')).state).toBe('free');
    await held.release();
    expect(await (await waiting).text()).toBe('3 to 2');
  });

  it('are at least one, and bounded', async () => {
    const locks = await bench.rival();
    await expect(locks.acquire([])).rejects.toThrow('empty');
    await expect(locks.acquire(Array.from({ length: 101 }, (_, at) => `${at}`))).rejects.toThrow(
      '100',
    );
    expect(() => Locked([])({}, 'b', { value: async () => {} })).toThrow('empty');
    expect(() => Locked(['a:<id'])({}, 'b', { value: async () => {} })).toThrow('partner');
  });

  it('are run under by the service', async () => {
    const locks = await bench.rival();
    expect(await locks.withLock(['b', 'a', 'b'], (lease) => lease.keys)).toEqual(['a', 'b']);
    const lease = await locks.tryAcquire(['a', 'b']);
    expect(await locks.tryAcquire(['b', 'c'])).toBeNull();
    expect((await locks.inspect('c')).state).toBe('free');
    expect(JSON.parse(JSON.stringify(lease))).toMatchObject({ key: 'a, b', held: true });
    await lease!.release();
  });
});

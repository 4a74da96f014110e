import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { LockNotAcquiredError, type LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { useBench } from '../support/nest-app.js';
import { Accounts } from './accounts-within-each-other.js';

const bench = useBench();

describe('a method that calls another under the same lock', () => {
  let accounts: Accounts;
  let rival: LockService;
  beforeAll(async () => {
    accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    rival = await bench.rival();
  });
  beforeEach(() => {
    accounts.balance.value = 0;
  });

  const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

  it('holds it on, under the same token, at any depth', async () => {
    const [outer, inner] = await accounts.within('1', async () => {
      const lease = accounts.locks.current('account:1')!;
      const deep = await accounts.within('1', () =>
        accounts.within('2', () => accounts.token('1')),
      );
      expect(lease.held).toBe(true);
      expect(await state('account:1')).toBe('held');
      return [lease.fencingToken, deep];
    });
    expect(outer).toBe(inner);
    expect(await state('account:1')).toBe('free');
  });

  it('holds it after the inner one failed', async () => {
    await accounts.within('1', async () => {
      const failing = accounts.within('1', () => Promise.reject(new TypeError('inner')));
      await expect(failing).rejects.toThrow('inner');
      expect(await state('account:1')).toBe('held');
    });
    expect(await state('account:1')).toBe('free');
  });

  it('lets siblings in Promise.all take turns', async () => {
    await accounts.within('1', () =>
      Promise.all(Array.from({ length: 20 }, () => accounts.add('1', 1))),
    );
    expect(accounts.balance.value).toBe(20);
  });

  it('mixes with the service, both ways round', async () => {
    await accounts.locks.withLock('account:1', async (lease) => {
      expect(await accounts.token('1')).toBe(lease.fencingToken);
    });
    await accounts.within('1', () =>
      accounts.locks.withLock('account:1', { wait: 0 }, async (lease) => {
        expect(lease.held).toBe(true);
      }),
    );
  });

  it('waits like anybody with reentrant: false', async () => {
    await accounts.within('1', async () => {
      await expect(accounts.stranger('1')).rejects.toThrow(LockNotAcquiredError);
    });
    expect(await accounts.stranger('1')).toBe('ran');
  });

  it('does not lend its lock to work that outlives it', async () => {
    const over = new Gate();
    let late: Promise<number> | undefined;
    const first = await accounts.within('1', async () => {
      late = over.opened.then(() => {
        expect(accounts.locks.current()).toBeUndefined();
        return accounts.token('1');
      });
      return accounts.token('1');
    });
    const lease = await rival.acquire('account:1');
    over.open();
    await expect(late).rejects.toThrow(LockNotAcquiredError);
    await lease.release();
    expect(await accounts.token('1')).toBeGreaterThan(first);
  });

  it('does not lend its lock to a timer that it set', async () => {
    let fired: Promise<string> | undefined;
    await accounts.within('1', async () => {
      fired = pause(1).then(() => accounts.within('1', async () => state('account:1')));
    });
    const lease = accounts.locks.current();
    expect(lease).toBeUndefined();
    expect(await fired).toBe('held');
    expect(await state('account:1')).toBe('free');
  });

  it('does not lend its lock to other requests', async () => {
    const [inside, leave] = [new Gate(), new Gate()];
    const holding = accounts.within('1', async () => {
      inside.open();
      await leave.opened;
    });
    await inside.opened;
    expect(accounts.locks.current()).toBeUndefined();
    await expect(accounts.token('1')).rejects.toThrow(LockNotAcquiredError);
    leave.open();
    await holding;
  });

  it('does not lend its lock to another application in the same process', async () => {
    const other = (await bench.app({ providers: [Accounts] })).get(Accounts);
    await accounts.within('1', async () => {
      expect(other.locks.current()).toBeUndefined();
      await expect(other.token('1')).rejects.toThrow(LockNotAcquiredError);
    });
    await accounts.within('1', () =>
      other.within('2', async () => {
        expect(other.locks.current()!.key).toBe('account:2');
        expect(accounts.locks.current()!.key).toBe('account:1');
      }),
    );
  });
});

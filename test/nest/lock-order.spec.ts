import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  Locked,
  LockOptionsError,
  LockOrderError,
  LockService,
  RedisLockModule,
} from '../../lib/index.js';
import { LockTestingModule, memoryLockService } from '../../lib/memory/testing/index.js';

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((text) => void warnings.push(text));
});
afterEach(() => {
  jest.restoreAllMocks();
});

function strict(): LockService {
  return memoryLockService({ lockOrder: 'throw' });
}

async function nested(locks: LockService, ...keys: string[]): Promise<void> {
  const [first, ...rest] = keys;
  if (first !== undefined) await locks.withLock(first, () => nested(locks, ...rest));
}

async function theOneWay(locks: LockService): Promise<void> {
  await locks.withLock('a', () => locks.withLock('b', () => undefined));
}

async function theOtherWay(locks: LockService): Promise<void> {
  await locks.withLock('b', () => locks.withLock('a', () => undefined));
}

describe('two locks in opposite orders', () => {
  it('are reported with the stacks of both calls, before anybody waits', async () => {
    const locks = strict();
    await theOneWay(locks);
    await theOneWay(locks);
    const error = (await theOtherWay(locks).catch((reason: unknown) => reason)) as LockOrderError;
    expect(error).toBeInstanceOf(LockOrderError);
    expect(error).toMatchObject({ code: 'LOCK_ORDER', key: 'a', held: 'b' });
    expect(error.message).toContain('Lock "a" is wanted inside lock "b"');
    expect(error.message).toMatch(/"b" was wanted inside "a":\n[^]*theOneWay/);
    expect(error.stack!.slice(error.stack!.indexOf('This call:'))).toContain('theOtherWay');
    await expect(theOtherWay(locks)).rejects.toThrow(LockOrderError);
    await theOneWay(locks);
    expect((await locks.list()).length).toBe(0);
  });

  it('are warned of once, and taken all the same', async () => {
    const locks = memoryLockService();
    for (let times = 0; times < 3; times += 1) {
      await theOneWay(locks);
      await theOtherWay(locks);
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^LockOrderError: [^]*theOneWay[^]*This call:[^]*theOtherWay/);
  });

  it('are found over other locks', async () => {
    const locks = strict();
    await nested(locks, 'a', 'b');
    await nested(locks, 'b', 'c');
    await nested(locks, 'c', 'd');
    const error = await nested(locks, 'd', 'a').catch((reason: unknown) => reason);
    expect((error as Error).message.match(/"\w" was wanted inside "\w"/g)).toEqual([
      '"b" was wanted inside "a"',
      '"c" was wanted inside "b"',
      '"d" was wanted inside "c"',
    ]);
  });

  it('are none where the first was given back before the second was wanted', async () => {
    const locks = strict();
    await theOneWay(locks);
    await locks.withLock('b', async (lease) => {
      await lease.release();
      await locks.withLock('a', () => undefined);
    });
    await theOneWay(locks);
  });

  it('are found around decorated methods, and with several keys', async () => {
    @Injectable()
    class Bank {
      constructor(readonly locks: LockService) {}

      @Locked('account:<id>')
      async audit(id: string): Promise<void> {
        await this.locks.withLock(['ledger', `account:${id}+`], async () => {});
      }

      @Locked(['ledger', 'account:<id>+'])
      async close(id: string): Promise<void> {
        await this.audit(id);
      }
    }
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot({ lockOrder: 'throw' })],
      providers: [Bank],
    }).compile();
    await module.get(Bank).audit('1');
    await expect(module.get(Bank).close('1')).rejects.toThrow(LockOrderError);
    await module.get(Bank).close('2');
    await expect(module.get(Bank).audit('2')).rejects.toThrow(LockOrderError);
    await module.close();
  });
});

describe('no opposite order is', () => {
  it.each<[string, (locks: LockService) => Promise<unknown>]>([
    ['one beside the other', (locks) => Promise.all([nested(locks, 'a'), nested(locks, 'b')])],
    ['several keys at once', (locks) => locks.withLock(['b', 'a'], () => undefined)],
    ['entering again', (locks) => nested(locks, 'b', 'b')],
    ['entering again around another', (locks) => nested(locks, 'a', 'b', 'a')],
    ['asking without waiting', (locks) => locks.withLock('b', () => locks.tryAcquire('a'))],
    [
      'what was given back before',
      (locks) =>
        locks.withLock('b', async (lease) => {
          await lease.release();
          await nested(locks, 'a');
        }),
    ],
    [
      'what outlives its section',
      async (locks) => {
        let later!: Promise<void>;
        await locks.withLock('b', () => {
          later = new Promise((resolve) => setImmediate(resolve)).then(() => nested(locks, 'a'));
        });
        await later;
      },
    ],
  ])('%s', async (_name, act) => {
    const locks = strict();
    await nested(locks, 'a', 'b');
    await act(locks);
  });

  it('another service’s', async () => {
    const [one, other] = [strict(), strict()];
    await nested(one, 'a', 'b');
    await nested(other, 'b', 'a');
  });

  it('anything where nobody asked for it', async () => {
    const locks = memoryLockService({ lockOrder: 'ignore' });
    await nested(locks, 'a', 'b');
    await nested(locks, 'b', 'a');
    expect(warnings).toEqual([]);
  });
});

it('remembers no more than so many pairs, the latest', async () => {
  const locks = strict();
  for (let nth = 0; nth < 6_000; nth += 1) await nested(locks, `a${nth}`, `b${nth}`);
  await nested(locks, 'b0', 'a0');
  await expect(nested(locks, 'b5999', 'a5999')).rejects.toThrow(LockOrderError);
});

it('refuses another setting', () => {
  expect(() => RedisLockModule.forRoot({ lockOrder: true as never })).toThrow(LockOptionsError);
});

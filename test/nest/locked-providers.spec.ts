import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { firstValueFrom, lastValueFrom, Observable, of, toArray } from 'rxjs';
import { CurrentLease, Lease, Locked, LockKey, LockService, lockKey } from '../../lib/index.js';
import { NestBench } from '../support/nest-app.js';

let bench: NestBench;
beforeAll(async () => {
  bench = await NestBench.start();
});
afterAll(() => bench.stop());

/** Reads, waits and writes: loses updates unless one at a time runs it. */
class Balance {
  value = 0;
  async add(amount: number): Promise<void> {
    const read = this.value;
    await turn();
    this.value = read + amount;
  }
}

@Injectable()
class Accounts {
  readonly balance = new Balance();

  @Locked('account:<id>')
  async deposit(id: string, amount: number): Promise<number> {
    await this.balance.add(amount);
    return amount;
  }

  @Locked('lease:<dto.owner.id>')
  async lease(dto: { owner: { id: number } }, @CurrentLease() lease?: Lease): Promise<string> {
    return `${dto.owner.id} ${lease!.key} ${lease!.held} ${Number.isSafeInteger(lease!.fencingToken)}`;
  }

  @Locked('minified:<id>')
  async marked(_: unknown, @LockKey('id') e: string): Promise<string> {
    return e;
  }

  @Locked((id: string) => lockKey`fn:${id}`)
  async byFunction(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${id} ${lease!.key}`;
  }

  @Locked('stream:<0>')
  observe(n: number, @CurrentLease() lease?: Lease): Observable<unknown> {
    return of(n, lease!.key, lease!.held);
  }

  @Locked('iterate:<n>')
  async *iterate(n: number, @CurrentLease() lease?: Lease): AsyncGenerator<unknown> {
    yield n;
    yield lease!.held;
  }

  @Locked('nested')
  async outer(): Promise<number> {
    return this.inner();
  }

  @Locked('nested')
  async inner(@CurrentLease() lease?: Lease): Promise<number> {
    return lease!.fencingToken;
  }

  @Locked('busy', { onBusy: 'skip' })
  async skipped(work: () => Promise<void>): Promise<void> {
    await work();
  }

  @Locked('busy', { wait: 0, onBusy: ({ key, args }) => `${key} ${args.length}` })
  async instead(_: number): Promise<unknown> {
    return 'ran';
  }
}

describe('a method under @Locked', () => {
  it('runs one call at a time for one key', async () => {
    const app = await bench.app({ providers: [Accounts] });
    const accounts = app.get(Accounts);
    await Promise.all(Array.from({ length: 40 }, () => accounts.deposit('7', 1)));
    expect(accounts.balance.value).toBe(40);
    expect(await accounts.lease({ owner: { id: 3 } })).toBe('3 lease:3 true true');
    expect(await accounts.marked(0, 'a')).toBe('a');
    expect(await accounts.byFunction('a:b')).toBe('a:b fn:a%3Ab');
    expect(await lastValueFrom(accounts.observe(5).pipe(toArray()))).toEqual([5, 'stream:5', true]);
    expect(await firstValueFrom(accounts.observe(6))).toBe(6);
    const seen: unknown[] = [];
    for await (const value of accounts.iterate(1)) seen.push(value);
    expect(seen).toEqual([1, true]);
    expect(await accounts.outer()).toBeGreaterThan(0);
    const locks = app.get(LockService);
    await locks.withLock('busy', async () => expect(await accounts.instead(1)).toBe('ran'));
    const lease = await locks.acquire('busy');
    expect(await accounts.instead(1)).toBe('busy 1');
    await accounts.skipped(() => Promise.reject(new Error('must not run')));
    await lease.release();
    await expect(accounts.deposit('', 1)).rejects.toThrow(
      '<id> in the lock\'s key "account:<id>" is an empty string',
    );
    expect(JSON.stringify(accounts)).toBe('{"balance":{"value":40}}');
  });
});

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  concatWith,
  firstValueFrom,
  lastValueFrom,
  NEVER,
  Observable,
  of,
  startWith,
  Subject,
  take,
  throwError,
  toArray,
} from 'rxjs';
import {
  LeaseLostError,
  LockNotAcquiredError,
  LockOptionsError,
  type LockService,
} from '../../lib/index.js';
import { untilFree, untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { balance, Prices } from './prices.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('a method under @Locked that returns an Observable', () => {
  let prices: Prices;
  beforeAll(async () => {
    prices = (await bench.app({ providers: [Prices] })).get(Prices);
  });
  beforeEach(() => {
    prices.calls = 0;
    prices.source = NEVER;
  });

  const state = async (key: string): Promise<string> => (await rival.inspect(key)).state;

  it('neither runs nor locks before somebody subscribes', async () => {
    prices.watch('lazy');
    expect(prices.calls).toBe(0);
    expect(await state('prices:lazy')).toBe('free');
  });

  it('runs once for each subscription, under a lease of its own', async () => {
    prices.source = of('1', '2');
    const watched = prices.watch('twice');
    expect(await lastValueFrom(watched.pipe(toArray()))).toEqual(['1', '2']);
    expect(await lastValueFrom(watched.pipe(toArray()))).toEqual(['1', '2']);
    expect(prices.calls).toBe(2);
    expect(await lastValueFrom(prices.lease('x').pipe(toArray()))).toEqual([
      true,
      'prices:x',
      'prices:x',
    ]);
  });

  it('lets two subscriptions take turns', async () => {
    const added = prices.add('1');
    await Promise.all(Array.from({ length: 30 }, () => lastValueFrom(added)));
    expect(balance.value).toBe(30);
  });

  it('gives the lock back before it completes', async () => {
    prices.source = of('1');
    await lastValueFrom(prices.watch('done'));
    expect(await state('prices:done')).toBe('free');
  });

  it('gives the lock back before it fails', async () => {
    prices.source = of('1').pipe(concatWith(throwError(() => new RangeError('broken'))));
    await expect(lastValueFrom(prices.watch('error'))).rejects.toThrow(new RangeError('broken'));
    expect(await state('prices:error')).toBe('free');
    await expect(lastValueFrom(prices.fails('gold'))).rejects.toThrow('no prices of gold');
    expect(await state('prices:gold')).toBe('free');
  });

  it('gives the lock back when its subscriber leaves', async () => {
    const subject = new Subject<string>();
    prices.source = subject;
    const subscription = prices.watch('leave').subscribe();
    await until('it is subscribed to', () => subject.observed);
    expect(await state('prices:leave')).toBe('held');
    subscription.unsubscribe();
    expect(subject.observed).toBe(false);
    await untilFree(rival, 'prices:leave');
    prices.source = of('first', 'second');
    expect(await firstValueFrom(prices.watch('leave'))).toBe('first');
    await untilFree(rival, 'prices:leave');
  });

  it('leaves its source when its subscriber leaves at a value that comes at once', async () => {
    const subject = new Subject<string>();
    prices.source = subject.pipe(startWith('first'));
    expect(await firstValueFrom(prices.watch('at once'))).toBe('first');
    expect(subject.observed).toBe(false);
    await untilFree(rival, 'prices:at once');
  });

  it('stops a source that goes on at once, before it gives the lock back', async () => {
    const heard: unknown[] = [];
    prices.source = new Observable((subscriber) => {
      let sent = 0;
      while (!subscriber.closed && sent < 100) subscriber.next(`${(sent += 1)}`);
      return () => heard.push(sent, prices.locks.current('prices:endless')?.held);
    });
    const values = await lastValueFrom(prices.watch('endless').pipe(take(2), toArray()));
    expect([values, heard]).toEqual([
      ['1', '2'],
      [2, true],
    ]);
    await untilFree(rival, 'prices:endless');
  });

  it('leaves the queue when its subscriber does', async () => {
    const lease = await rival.acquire('prices:line');
    const subscription = prices.watch('line').subscribe();
    await untilWaiting(rival, 'prices:line');
    subscription.unsubscribe();
    await untilWaiting(rival, 'prices:line', 0);
    await lease.release();
    expect(await state('prices:line')).toBe('free');
    expect(prices.calls).toBe(0);
  });

  it('fails at the moment its lease is lost, and its source is left', async () => {
    const subject = new Subject<string>();
    prices.source = subject;
    const outcome = lastValueFrom(prices.watch('lost')).catch((error: unknown) => error);
    await until('it is subscribed to', () => subject.observed);
    await rival.forceRelease('prices:lost');
    expect(await outcome).toBeInstanceOf(LeaseLostError);
    expect(subject.observed).toBe(false);
  });

  it('answers what onBusy says when another holds the lock', async () => {
    const lease = await rival.acquire('prices:busy');
    expect(await lastValueFrom(prices.instead())).toBe('busy');
    expect(await lastValueFrom(prices.insteadSeveral().pipe(toArray()))).toEqual(['one', 'two']);
    await expect(lastValueFrom(prices.busy())).rejects.toThrow(LockNotAcquiredError);
    await lease.release();
    expect(await lastValueFrom(prices.instead())).toBe('ran');
  });

  it('is told to say so when its type does not show the Observable', async () => {
    await expect(prices.hidden()).rejects.toThrow(LockOptionsError);
    await expect(prices.hidden()).rejects.toThrow("returns: 'observable'");
    expect(await state('prices:hidden')).toBe('free');
    expect(await lastValueFrom(prices.said() as Observable<boolean>)).toBe(true);
  });
});

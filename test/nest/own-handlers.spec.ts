import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type TestingModule } from '@nestjs/testing';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { lastValueFrom, Observable, of } from 'rxjs';
import { type Election, type Lease, LockOptionsError, LockService } from '../../lib/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';
import { Gate } from '../support/gate.js';
import { FAILURE, openShop, own, Shop } from './shop-with-handlers.js';

Logger.overrideLogger(false);

const clock = new ManualClock();
const server = new MemoryServer(clock);
let module: TestingModule;
let shop: Shop;
let rival: LockService;
beforeAll(async () => {
  module = await openShop(server);
  shop = module.get(Shop);
  rival = memoryLockService({ server });
});
afterAll(async () => {
  await module.close();
  await rival.onApplicationShutdown();
});

describe('what onBusy answers', () => {
  let lease: Lease;
  beforeEach(async () => {
    shop.runs = 0;
    lease = await rival.acquire('shop');
  });

  afterEach(() => lease.release());

  it.each(calls())('is waited for by the caller of %s', async (_, call) => {
    const gate = new Gate();
    own.handler = () => gate.after(Promise.resolve('late'));
    const called = call();
    expect(await now(called)).toBe('nothing');
    gate.open();
    expect(await called).toBe('late');
    expect(shop.runs).toBe(0);
  });

  it.each(calls())('goes to the caller of %s also where it fails', async (_, call) => {
    own.handler = () => Promise.reject(FAILURE);
    await expect(call()).rejects.toBe(FAILURE);
    own.handler = () => {
      throw FAILURE;
    };
    await expect(call()).rejects.toBe(FAILURE);
    expect(shop.runs).toBe(0);
    expect((await rival.inspect('shop')).waiting).toBe(0);
    expect(await lease.release()).toBe(true);
    expect(await state()).toBe('free');
  });

  it('may be a stream of its own, also one that comes later', async () => {
    own.handler = () => of('first', 'last');
    expect(await lastValueFrom(shop.observable())).toBe('last');
    own.handler = () => Promise.resolve(of('first', 'last'));
    expect(await lastValueFrom(shop.observable())).toBe('last');
    own.handler = () => Promise.resolve(undefined);
    await expect(lastValueFrom(shop.observable())).rejects.toThrow('no elements in sequence');
    expect((await shop.iterable().next()).done).toBe(true);
  });

  it('is told to nobody who left meanwhile', async () => {
    const gate = new Gate();
    own.handler = () => gate.after(Promise.resolve('late'));
    const told: unknown[] = [];
    const note = (what: unknown): void => void told.push(what);
    const subscription = shop
      .observable()
      .subscribe({ next: note, error: note, complete: () => note('complete') });
    await clock.advance(0);
    subscription.unsubscribe();
    gate.open();
    await clock.advance(0);
    expect(told).toEqual([]);
  });

  function calls(): [string, () => Promise<unknown>][] {
    return [
      ['a method', () => shop.promise()],
      ['a method that returns an Observable', () => lastValueFrom(shop.observable())],
      ['one that returns an AsyncIterable', async () => (await shop.iterable().next()).value],
    ];
  }
});

describe('an iterator that a consumer breaks off', () => {
  const next = async (): Promise<IteratorResult<string>> => ({ done: false, value: 'row' });

  /** Takes one row, and then fails or goes. */
  async function takeOne(then: () => void = () => {}): Promise<string> {
    for await (const row of shop.rows()) {
      then();
      return row;
    }
    return 'none';
  }

  it('holds the lock until its return has come to its end', async () => {
    const gate = new Gate();
    own.iterator = { next, return: () => gate.after(Promise.resolve({ done: true, value: '' })) };
    const taken = takeOne();
    expect(await now(taken)).toBe('nothing');
    expect(await state()).toBe('held');
    gate.open();
    expect(await taken).toBe('row');
    expect(await state()).toBe('free');
  });

  it.each<[string, () => Promise<IteratorResult<string>>]>([
    ['rejects', () => Promise.reject(FAILURE)],
    [
      'throws',
      () => {
        throw FAILURE;
      },
    ],
  ])('whose return %s costs its consumer nothing, and the lock is given back', async (_, end) => {
    own.iterator = { next, return: end };
    expect(await takeOne()).toBe('row');
    expect(await state()).toBe('free');
    const theirs = new TypeError('the consumer failed');
    const consumed = takeOne(() => {
      throw theirs;
    });
    await expect(consumed).rejects.toBe(theirs);
    expect(await state()).toBe('free');
  });

  it('without a return gives the lock back', async () => {
    own.iterator = { next };
    expect(await takeOne()).toBe('row');
    expect(await state()).toBe('free');
  });

  it('whose next fails is told to its consumer, once its return has come to its end', async () => {
    let returned = 0;
    own.iterator = {
      next: () => Promise.reject(FAILURE),
      async return() {
        returned += 1;
        throw new TypeError('not this one');
      },
    };
    await expect(takeOne()).rejects.toBe(FAILURE);
    expect([await state(), returned]).toEqual(['free', 1]);
  });
});

describe('an iterator that a consumer leaves while it waits for a row', () => {
  let returns: (string | undefined)[];
  beforeEach(() => {
    returns = [];
    own.iterator = silentAfter(['row']);
  });

  /** Has these rows, and then none until it is told to return. */
  function silentAfter(rows: string[]): AsyncIterator<string> {
    const end = new Gate();
    const done = { done: true, value: undefined } as const;
    return {
      next: async () => {
        const value = rows.shift();
        return value === undefined ? end.after(Promise.resolve(done)) : { done: false, value };
      },
      async return() {
        returns.push(module.get(LockService).current()?.key);
        end.open();
        return done;
      },
    };
  }

  const ways: [string, (rows: AsyncGenerator<string>) => Promise<unknown>, unknown][] = [
    ['return', (rows) => rows.return('over'), { done: true, value: 'over' }],
    ['throw', (rows) => rows.throw(FAILURE), FAILURE],
  ];

  it.each(ways)(
    'is told by %s inside its lock, once, and gives that back',
    async (_, way, told) => {
      const rows = shop.rows() as AsyncGenerator<string>;
      expect(await rows.next()).toEqual({ done: false, value: 'row' });
      const pending = rows.next();
      expect(await now(pending)).toBe('nothing');
      const left = way(rows);
      expect(await now(left)).toEqual(told);
      expect(await now(pending)).toEqual({ done: true, value: undefined });
      expect([returns, await state()]).toEqual([['shop'], 'free']);
      await rows.return('again');
      expect(returns).toHaveLength(1);
    },
  );

  it.each(ways)('leaves the queue at once by %s', async (_, way, told) => {
    const lease = await rival.acquire('shop');
    const rows = shop.rows() as AsyncGenerator<string>;
    const pending = rows.next();
    await clock.advance(1);
    expect((await rival.inspect('shop')).waiting).toBe(1);
    const left = way(rows);
    await clock.advance(1);
    expect((await rival.inspect('shop')).waiting).toBe(0);
    expect(await now(left)).toEqual(told);
    expect(await now(pending)).toEqual({ done: true, value: undefined });
    await lease.release();
    expect([returns, await state()]).toEqual([[], 'free']);
  });

  it('is never asked where its lock comes at the moment of leaving', async () => {
    const rows = shop.rows() as AsyncGenerator<string>;
    const pending = rows.next();
    const left = rows.return('over');
    expect(await now(left)).toEqual({ done: true, value: 'over' });
    expect(await now(pending)).toEqual({ done: true, value: undefined });
    expect([returns, await state()]).toEqual([[], 'free']);
  });

  it('is told through a second @Locked above the first', async () => {
    const rows = shop.rowsTwice() as AsyncGenerator<string>;
    await rows.next();
    const pending = rows.next();
    expect([await state(), await state('shop:above')]).toEqual(['held', 'held']);
    const left = rows.return('over');
    expect(await now(left)).toEqual({ done: true, value: 'over' });
    expect(await now(pending)).toEqual({ done: true, value: undefined });
    expect(returns).toEqual(['shop']);
    expect([await state(), await state('shop:above')]).toEqual(['free', 'free']);
  });

  it('is told also where onBusy has answered it', async () => {
    const lease = await rival.acquire('shop');
    own.handler = () => ({ [Symbol.asyncIterator]: () => own.iterator });
    const rows = shop.iterable();
    expect(await rows.next()).toEqual({ done: false, value: 'row' });
    const pending = rows.next();
    await clock.advance(0);
    const left = rows.return('over');
    expect(await now(left)).toEqual({ done: true, value: 'over' });
    expect(await now(pending)).toEqual({ done: true, value: undefined });
    expect(returns).toEqual([undefined]);
    await lease.release();
  });

  it('keeps the lock until what it awaits has come, where it cannot be told', async () => {
    const row = new Gate();
    own.iterator = { next: () => row.after(Promise.resolve({ done: false, value: 'row' })) };
    const rows = shop.rows() as AsyncGenerator<string>;
    const pending = rows.next();
    await clock.advance(0);
    const left = rows.return('over');
    expect(await now(left)).toBe('nothing');
    expect(await state()).toBe('held');
    row.open();
    expect(await pending).toEqual({ done: false, value: 'row' });
    expect(await left).toEqual({ done: true, value: 'over' });
    expect(await state()).toBe('free');
  });
});

describe('an Observable', () => {
  it.each<[string, () => Observable<string>]>([
    [
      'cannot be subscribed to',
      () => {
        throw FAILURE;
      },
    ],
    ['fails', () => new Observable((subscriber) => subscriber.error(FAILURE))],
  ])('that %s has given the lock back when its subscriber hears of it', async (_, fails) => {
    own.source = () => {
      server.pause(); // nothing is given back until it answers again
      return fails();
    };
    const heard: unknown[] = [];
    shop.stream().subscribe({ error: (error) => heard.push(error) });
    await clock.advance(10);
    const early = heard.splice(0);
    server.resume();
    await clock.advance(10);
    expect([early, heard, await state()]).toEqual([[], [FAILURE], 'free']);
  });

  it('whose subscriber left before it had the lock is not subscribed to, and nothing is held', async () => {
    let subscribed = 0;
    own.source = () => new Observable(() => void (subscribed += 1));
    shop.stream().subscribe().unsubscribe();
    await clock.advance(0);
    expect([subscribed, await state()]).toEqual([0, 'free']);
  });

  it('whose subscriber leaves the queue leaves no entry there', async () => {
    const lease = await rival.acquire('shop');
    const subscription = shop.stream().subscribe();
    await clock.advance(1);
    expect((await rival.inspect('shop')).waiting).toBe(1);
    subscription.unsubscribe();
    await clock.advance(1);
    expect((await rival.inspect('shop')).waiting).toBe(0);
    await lease.release();
  });
});

describe('what the body of withLock or withPermit returns', () => {
  async function* rows(): AsyncGenerator<string> {
    yield 'row';
  }
  /** Begins when it is awaited, and could be iterated as well: so does a query of Mongoose or Knex. */
  const query = (result: unknown): PromiseLike<unknown> =>
    // oxlint-disable-next-line unicorn/no-thenable -- what is tested
    Object.assign(rows(), { then: (done: (value: unknown) => never) => done(result) });
  const bodies: [string, (work: () => unknown) => Promise<unknown>][] = [
    ['withLock', (work) => rival.withLock('shop', { wait: 0 }, work)],
    ['withPermit', (work) => rival.semaphore('shop', { permits: 1 }).withPermit({ wait: 0 }, work)],
  ];
  const streams: [string, () => unknown][] = [
    ['an Observable', () => of(1)],
    ['an Observable that comes later', async () => of(1)],
    ['an AsyncIterable', rows],
    ['an AsyncIterable that comes later', async () => rows()],
    ['a Node stream that comes later', async () => Readable.from(['row'])],
    ['a query that results in a stream', () => query(rows())],
    [
      'a generator',
      function* () {
        yield 'row';
      },
    ],
  ];
  describe.each(bodies)('of %s', (_, run) => {
    it.each(streams)('is refused where it is %s, and the lock is free', async (_, work) => {
      const running = run(work);
      await expect(running).rejects.toThrow(
        'returned a stream, or a generator, which would run unlocked',
      );
      await expect(running).rejects.toThrow(LockOptionsError);
      expect(await state()).toBe('free');
      expect(await run(() => 'next')).toBe('next');
    });

    it('is awaited where it is a query that could also be iterated', async () => {
      expect(await run(() => query('all rows'))).toBe('all rows');
    });

    it('may be a client that has a method "subscribe"', async () => {
      const client = { subscribe: () => {} };
      expect(await run(async () => client)).toBe(client);
    });
  });
});

describe('a listener of an election', () => {
  let election: Election;
  beforeEach(() => {
    election = rival.election('office');
  });
  const fail = (): never => {
    throw FAILURE;
  };

  it('that fails when its leader is deposed keeps nobody from hearing of it, nor it from leading again', async () => {
    let deposed = 0;
    election.on('deposed', fail).on('deposed', () => void (deposed += 1));
    const first = await election.campaign();
    await rival.forceRelease('leader:office');
    await clock.advance(10);
    expect([election.leads, first.held, deposed]).toEqual([false, false, 1]);
    const second = await election.campaign();
    expect([election.leads, second.held]).toEqual([true, true]);
    expect(await election.resign()).toBe(true);
    expect(deposed).toBe(1);
  });

  it('that fails when it is elected leaves the lead with it, and all who campaign hear of it', async () => {
    election.on('elected', fail);
    const [first, second] = await Promise.all([election.campaign(), election.campaign()]);
    expect([first.held, second === first, election.leads]).toEqual([true, true, true]);
    expect(await election.resign()).toBe(true);
  });

  it('that rejects keeps nobody from hearing of it, and ends no process', async () => {
    const unhandled = jest.fn();
    process.prependListener('unhandledRejection', unhandled);
    const heard: string[] = [];
    const rejects = (() => Promise.reject(FAILURE)) as () => void;
    for (const event of ['elected', 'deposed'] as const) {
      election.on(event, rejects).on(event, () => void heard.push(event));
    }
    await election.campaign();
    await rival.forceRelease('leader:office');
    await clock.advance(10);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(heard).toEqual(['elected', 'deposed']);
  });

  it('that resigns when it is elected ends it there, and nobody is deposed', async () => {
    let deposed = 0;
    election.on('elected', () => void election.resign()).on('deposed', () => (deposed += 1));
    const lease = await election.campaign();
    await clock.advance(0);
    expect([lease.held, election.leads, deposed]).toEqual([false, false, 0]);
    expect(await state('leader:office')).toBe('free');
  });

  it('that campaigns again when its leader is deposed leads again', async () => {
    const again: Promise<Lease>[] = [];
    election.on('deposed', () => void again.push(election.campaign()));
    await election.campaign();
    await rival.forceRelease('leader:office');
    await clock.advance(10);
    expect(again).toHaveLength(1);
    expect((await again[0]!).held).toBe(true);
    election.removeAllListeners();
    await election.resign();
  });

  it('is the only one: campaigns leave none on the signals that they were given', async () => {
    const { signal } = new AbortController();
    for (let term = 0; term < 20; term += 1) {
      await Promise.all([election.campaign({ signal }), election.campaign({ signal })]);
      await election.resign();
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(election.eventNames()).toEqual([]);
  });

  it('is the only one: terms that end by a release leave no task for the shutdown', async () => {
    const { client } = LockService.internals(rival);
    const calledOff = jest.fn();
    const onStop = jest.spyOn(client, 'onStop').mockReturnValue(calledOff);
    for (let term = 0; term < 3; term += 1) await (await election.campaign()).release();
    expect([onStop.mock.calls.length, calledOff.mock.calls.length]).toEqual([3, 2]);
    onStop.mockRestore();
    await election.resign();
    expect(calledOff).toHaveBeenCalledTimes(3);
  });
});

describe('a listener of a signal', () => {
  it('that takes the lock again finds it lost, and does not hold up who comes next', async () => {
    const lease = await rival.acquire('shop');
    let inside: Promise<unknown> = Promise.resolve();
    lease.signal.addEventListener('abort', () => {
      inside = Promise.all([lease.release(), lease.extend().catch((error: unknown) => error)]);
    });
    await rival.forceRelease('shop');
    await clock.advance(10);
    expect(await inside).toEqual([false, expect.objectContaining({ code: 'LEASE_LOST' })]);
    expect(await state()).toBe('free');
  });
});

async function state(key = 'shop'): Promise<string> {
  return (await rival.inspect(key)).state;
}

/** What a promise came to by now. */
async function now(promise: Promise<unknown>): Promise<unknown> {
  let come: unknown = 'nothing';
  promise.then(
    (value) => (come = value),
    (error: unknown) => (come = error),
  );
  await clock.advance(0);
  return come;
}

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import {
  type Election,
  type Lease,
  LeaseLostError,
  LockKeyError,
  LockOptionsError,
  LockService,
  LockShutdownError,
} from '../../lib/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { Candidate } from '../../lib/nest/services/candidate.js';
import { Gate } from '../support/gate.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';

const bench = useBench();
let replicas: LockService[];
beforeAll(async () => {
  replicas = [await bench.rival(), await bench.rival(), await bench.rival()];
});

let name = '';
let elections: Election[];
let turn = 0;
beforeEach(() => {
  name = `office-${(turn += 1)}`;
  elections = replicas.map((locks) => locks.election(name, { ttl: '2s' }));
});

/** The replica at this place campaigns, and is in the queue. */
async function enqueue(at: number): Promise<[campaign: Promise<Lease>]> {
  const { waiting } = await replicas[0]!.inspect(`leader:${name}`);
  const campaign = later(elections[at]!.campaign());
  await untilWaiting(replicas[0]!, `leader:${name}`, waiting + 1);
  return [campaign];
}

function leading(): boolean[] {
  return elections.map((election) => election.leads);
}

describe('a candidate', () => {
  it.each(['leads', 'waits'])(
    'that %s has ended its campaign when it has retired',
    async (does) => {
      if (does === 'waits') await elections[1]!.campaign();
      const candidate = new Candidate(elections[0]!, systemClock);
      candidate.stand();
      if (does === 'leads') await until('it leads', () => elections[0]!.leads);
      else await untilWaiting(replicas[0]!, `leader:${name}`, 1);
      await candidate.retire(); // resolves when the campaign has settled
      expect(elections[0]!.leads).toBe(false);
      await elections[1]!.resign();
    },
  );

  it('that retires while it works resigns and ends its campaign when the work has ended', async () => {
    const candidate = new Candidate(elections[0]!, systemClock);
    candidate.stand();
    await until('it leads', () => elections[0]!.leads);
    const gate = new Gate();
    const work = candidate.lead(() => gate.opened);
    await candidate.retire();
    expect(elections[0]!.leads).toBe(true);
    gate.open();
    await work; // with it the campaign has settled
    expect(elections[0]!.leads).toBe(false);
  });
});

describe('an election', () => {
  it('has one leader, and who campaigns next follows when it resigns', async () => {
    const [first, second, third] = elections;
    const lease = await first!.campaign();
    const [next] = await enqueue(1);
    const [last] = await enqueue(2);
    expect(leading()).toEqual([true, false, false]);
    expect(await first!.resign()).toBe(true);
    expect(lease.held).toBe(false);
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(leading()).toEqual([false, true, false]);
    expect(await second!.resign()).toBe(true);
    await last;
    expect(leading()).toEqual([false, false, true]);
    expect(third!.lease).toBe(await third!.campaign());
    expect(await third!.resign()).toBe(true);
    expect(await third!.resign()).toBe(false);
    expect(await third!.leader()).toBeUndefined();
  });

  it('tells who leads: where, in which process, and since when', async () => {
    const before = Date.now();
    await elections[0]!.campaign();
    const leader = await elections[1]!.leader();
    expect(leader).toMatchObject({ host: hostname().replaceAll(/[^\w-]/g, '-'), pid: process.pid });
    expect(leader!.since!.getTime()).toBeGreaterThanOrEqual(before - 1);
    expect(leader!.since!.getTime()).toBeLessThanOrEqual(Date.now() + 1);
    await elections[0]!.resign();
  });

  it('is an ordinary lock, which outlives its module’s defaults for calls', async () => {
    const app = await bench.app(
      {},
      { ttl: 1_000, renew: false, maxHold: 1_000, wait: 0, fencing: false },
    );
    const election = app.get(LockService).election(name);
    const lease = await election.campaign();
    expect(lease.key).toBe(`leader:${name}`);
    expect(lease.fencingToken).toBeGreaterThan(0);
    const expiresAt = lease.expiresAt;
    await until('it is renewed after its maxHold', () => lease.expiresAt > expiresAt + 1_100);
    expect(await replicas[0]!.tryAcquire(`leader:${name}`)).toBeNull();
    await election.resign();
  });

  it('has one campaign a replica, however often that asks', async () => {
    const [first, second] = elections;
    await first!.campaign();
    const [one] = await enqueue(1);
    const two = second!.campaign();
    expect((await replicas[0]!.inspect(`leader:${name}`)).waiting).toBe(1);
    await first!.resign();
    expect(await one).toBe(await two);
    await second!.resign();
  });

  it('tells listeners who is elected, once', async () => {
    const heard: unknown[] = [];
    elections[0]!.on('elected', (lease) => heard.push(lease));
    elections[0]!.on('deposed', (reason) => heard.push(reason));
    const lease = await elections[0]!.campaign();
    await elections[0]!.campaign();
    await elections[0]!.resign();
    expect(heard).toEqual([lease]);
  });

  it('goes on when a listener fails', async () => {
    elections[0]!.on('elected', () => {
      throw new Error('not my day');
    });
    expect((await elections[0]!.campaign()).held).toBe(true);
    await elections[0]!.resign();
  });

  it('refuses a name that cannot be a key, and options that cannot work', () => {
    expect(() => replicas[0]!.election('')).toThrow(LockKeyError);
    expect(() => replicas[0]!.election('x'.repeat(510))).toThrow(LockKeyError);
    expect(() => replicas[0]!.election('a', { ttl: 1 })).toThrow(LockOptionsError);
    expect(() => replicas[0]!.election('a', { tll: 1 } as object)).toThrow(LockOptionsError);
  });
});

describe('a campaign', () => {
  it('is given up when its signal aborts, and leaves nothing behind', async () => {
    await elections[0]!.campaign();
    const controller = new AbortController();
    const campaign = elections[1]!.campaign({ signal: controller.signal });
    await untilWaiting(replicas[0]!, `leader:${name}`);
    controller.abort(new Error('no more'));
    await expect(campaign).rejects.toThrow('no more');
    await untilWaiting(replicas[0]!, `leader:${name}`, 0);
    await expect(elections[1]!.campaign({ signal: controller.signal })).rejects.toThrow('no more');
    const [again] = await enqueue(1);
    await elections[0]!.resign();
    expect((await again).held).toBe(true);
    await elections[1]!.resign();
  });

  it('goes on while one of those who share it still waits', async () => {
    await elections[0]!.campaign();
    const controller = new AbortController();
    const [patient] = await enqueue(1);
    const impatient = elections[1]!.campaign({ signal: controller.signal });
    controller.abort(new Error('no more'));
    await expect(impatient).rejects.toThrow('no more');
    await elections[0]!.resign();
    expect((await patient).held).toBe(true);
    await elections[1]!.resign();
  });

  it('can be begun anew at once', async () => {
    await elections[0]!.campaign();
    const controller = new AbortController();
    const first = elections[1]!.campaign({ signal: controller.signal });
    controller.abort(new Error('no more'));
    const second = elections[1]!.campaign();
    await expect(first).rejects.toThrow('no more');
    await elections[0]!.resign();
    expect((await second).held).toBe(true);
    await elections[1]!.resign();
  });

  it('ends when its replica resigns', async () => {
    await elections[0]!.campaign();
    const [campaign] = await enqueue(1);
    expect(await elections[1]!.resign()).toBe(false);
    await expect(campaign).rejects.toMatchObject({ name: 'AbortError' });
    await elections[0]!.resign();
    expect(await elections[2]!.leader()).toBeUndefined();
  });

  it('that is won is not lost to an abort from a listener', async () => {
    const controller = new AbortController();
    elections[0]!.on('elected', () => controller.abort(new Error('too late')));
    const lease = await elections[0]!.campaign({ signal: controller.signal });
    expect([lease.held, elections[0]!.leads]).toEqual([true, true]);
    await elections[0]!.resign();
  });

  it('ends when the application shuts down, and a leader there makes room as soon as it has resigned', async () => {
    const leaving = await bench.app({}, { shutdownGrace: '1m' });
    const election = leaving.get(LockService).election(name, { ttl: '1m' });
    const working = new Gate();
    const deposed = new Promise((resolve) => {
      election.once('deposed', (reason) => {
        resolve(reason);
        void working.opened.then(() => election.resign());
      });
    });
    const lease = await election.campaign();
    const [next] = await enqueue(1);
    const waiting = leaving.get(LockService).election(name).campaign();
    const since = performance.now();
    const closing = leaving.close();
    await expect(waiting).rejects.toThrow(LockShutdownError);
    expect(await deposed).toMatchObject({ reason: 'shutdown' });
    expect([election.leads, lease.signal.aborted, lease.held]).toEqual([false, true, true]);
    expect(leading()).toEqual([false, false, false]);
    working.open();
    expect((await next).held).toBe(true);
    await closing;
    expect(performance.now() - since).toBeLessThan(20_000);
    await elections[1]!.resign();
  });

  it('leaves a leader who does not resign its lease until the grace of a shutdown is over', async () => {
    const leaving = await bench.app({}, { shutdownGrace: '1500ms' });
    const election = leaving.get(LockService).election(name, { ttl: '10s' });
    const lease = await election.campaign();
    const [next] = await enqueue(1);
    const since = performance.now();
    const closing = leaving.close();
    await next;
    expect(performance.now() - since).toBeGreaterThan(1_490);
    expect(lease.held).toBe(false);
    await closing;
    await elections[1]!.resign();
  });
});

describe('a leader that is deposed', () => {
  it('learns of it by its signal and by an event, and campaigns again only when asked', async () => {
    const [first, second] = elections;
    const deposed = new Promise((resolve) => first!.once('deposed', resolve));
    const lease = await first!.campaign();
    const [next] = await enqueue(1);
    await replicas[2]!.forceRelease(`leader:${name}`);
    const reason = await deposed;
    expect(reason).toBeInstanceOf(LeaseLostError);
    expect(reason).toMatchObject({ reason: 'forced' });
    expect(lease.signal.reason).toBe(reason);
    await next;
    expect([...leading(), first!.lease]).toEqual([false, true, false, undefined]);
    await second!.resign();
    expect(await first!.leader()).toBeUndefined();
    expect((await first!.campaign()).held).toBe(true);
    await first!.resign();
  });
});

import { describe, expect, it } from '@jest/globals';
import { Job } from 'bullmq';
import { LockService } from '../../lib/index.js';
import { untilWaiting } from '../support/inspected.js';
import { until } from '../support/until.js';
import {
  bodies,
  events,
  lockedWorker,
  ORDERS,
  outcome,
  plainWorker,
  queueOf,
  replica,
  TTL,
  useQueue,
} from './queue-of-payments.js';

useQueue();

describe.each(ORDERS)('a BullMQ job that runs when its replica shuts down (%s)', (order) => {
  it('keeps its lock until it ends: another replica’s job waits, and both succeed', async () => {
    const leaving = await replica(order, plainWorker(1));
    const first = await queueOf(leaving).add('settle', {});
    await until('the job runs', () => bodies.running === 1);
    const staying = await replica(order, plainWorker(1));
    const second = await queueOf(staying).add('settle', {});
    await untilWaiting(staying.get(LockService), 'payments');

    let closed = false;
    const closing = leaving.close().then(() => (closed = true));
    const [lease] = bodies.leases;
    const { expiresAt } = lease!;
    await until('it has been renewed for longer than its ttl', () => {
      return lease!.expiresAt > expiresAt + TTL;
    });
    expect([bodies.most, closed]).toEqual([1, false]);
    expect([lease!.held, lease!.signal.aborted]).toEqual([true, false]);

    bodies.leave.open();
    expect(await outcome(staying, first)).toBe('settled');
    expect(await outcome(staying, second)).toBe('settled');
    await closing;
    expect([bodies.most, bodies.begun]).toEqual([1, 2]);
  });
});

describe.each(ORDERS)('a BullMQ job that waits when its replica shuts down (%s)', (order) => {
  it('is refused at once; with the documentation’s worker it comes again and has used up no attempt', async () => {
    const leaving = await replica(order, lockedWorker(2));
    const first = await queueOf(leaving).add('settle', {}, { attempts: 1 });
    await until('the job runs', () => bodies.running === 1);
    const second = await queueOf(leaving).add('settle', {}, { attempts: 1 });
    await untilWaiting(leaving.get(LockService), 'payments');
    const closing = leaving.close();
    const staying = await replica(order, lockedWorker(1));
    const waiting = await Job.fromId(queueOf(staying), second.id!);
    await until('it is delayed, or waits in the other replica', async () => {
      const { waiting: asking } = await staying.get(LockService).inspect('payments');
      return asking > 0 || (await waiting!.getState()) === 'delayed';
    });
    expect(bodies.most).toBe(1);
    bodies.leave.open();
    await closing;
    expect(await outcome(staying, first)).toBe('settled');
    expect(await outcome(staying, second)).toBe('settled');
    const done = await Job.fromId(queueOf(staying), second.id!);
    expect(done!.attemptsMade).toBe(1); // the one that succeeded
    expect([bodies.most, bodies.begun]).toEqual([1, 2]);
  });

  it('is an attempt without that worker', async () => {
    const leaving = await replica(order, plainWorker(2));
    await queueOf(leaving).add('settle', {});
    await until('the job runs', () => bodies.running === 1);
    const second = await queueOf(leaving).add('settle', {}, { attempts: 1 });
    await untilWaiting(leaving.get(LockService), 'payments');
    const failed = second.waitUntilFinished(events, 30_000);
    failed.catch(() => {});
    const closing = leaving.close();
    await expect(failed).rejects.toThrow('the application is shutting down');
    bodies.leave.open();
    await closing;
  });
});

describe.each(ORDERS)('the documentation’s worker (%s)', (order) => {
  it('asks for no further job while other code is drained', async () => {
    const leaving = await replica(order, lockedWorker(1));
    const lease = await leaving.get(LockService).acquire('elsewhere');
    const closing = leaving.close();
    const staying = await replica(order, lockedWorker(1));
    bodies.leave.open();
    const jobs = await queueOf(staying).addBulk(
      Array.from({ length: 10 }, (_, data) => ({ name: 'settle', data, opts: { attempts: 1 } })),
    );
    let started = 0;
    for (const job of jobs) {
      expect(await outcome(staying, job)).toBe('settled');
      const done = await Job.fromId(queueOf(staying), job.id!);
      expect(done!.attemptsMade).toBe(1);
      started += done!.attemptsStarted;
    }
    expect(started).toBeLessThanOrEqual(jobs.length + 1); // one read was under way
    await lease.release();
    await closing;
  });
});

describe.each(ORDERS)('a job that fails by itself (%s)', (order) => {
  it('fails with the documentation’s worker too', async () => {
    const app = await replica(order, lockedWorker(1));
    bodies.fail = new RangeError('mine');
    const job = await queueOf(app).add('settle', {}, { attempts: 1 });
    await expect(outcome(app, job)).rejects.toThrow('mine');
  });
});

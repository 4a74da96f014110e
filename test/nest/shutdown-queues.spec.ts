import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { type INestApplication, Injectable, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Job, type Queue, QueueEvents } from 'bullmq';
import { CurrentLease, type Lease, Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { pasted } from '../docs/pages.js';
import { Gate } from '../support/gate.js';
import { untilWaiting } from '../support/inspected.js';
import { until } from '../support/until.js';

const { LockedWorker } = await pasted<any>('docs/operations.md');

/** Shorter than what the bodies stay after the shutdown has begun: without renewal the lock would be free. */
const TTL = 3_000;

const ORDERS = ['queue first', 'locks first'] as const;
type Order = (typeof ORDERS)[number];

let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

/** What the bodies of one test do and tell. */
class Bodies {
  running = 0;
  most = 0;
  begun = 0;
  readonly leave = new Gate();
  readonly leases: Lease[] = [];
  fail: Error | undefined;

  async run(lease: Lease): Promise<void> {
    this.begun += 1;
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    this.leases.push(lease);
    if (this.fail) throw this.fail;
    await this.leave.opened;
    this.running -= 1;
  }
}

@Injectable()
class Payments {
  @Locked('payments')
  async settle(@CurrentLease() lease?: Lease): Promise<string> {
    await bodies.run(lease!);
    return 'settled';
  }
}

let bodies: Bodies;
let queueName: string;
let turn = 0;
const apps: INestApplication[] = [];
let events: QueueEvents;
beforeEach(() => {
  bodies = new Bodies();
  queueName = `queue-${(turn += 1)}`;
  events = new QueueEvents(queueName, { connection: { port: redis.port } });
});
afterEach(async () => {
  bodies.leave.open();
  for (const app of apps.splice(0)) await app.close();
  await events.close();
});

/** A worker that leaves its jobs to BullMQ. */
function plainWorker(concurrency: number): Type {
  @Processor(queueName, { concurrency })
  class Worker extends WorkerHost {
    constructor(readonly payments: Payments) {
      super();
    }

    process(): Promise<string> {
      return this.payments.settle();
    }
  }
  return Worker;
}

/** The documentation's worker. */
function lockedWorker(concurrency: number): Type {
  @Processor(queueName, { concurrency })
  class Worker extends LockedWorker {
    constructor(readonly payments: Payments) {
      super();
    }

    handle(): Promise<string> {
      return this.payments.settle();
    }
  }
  return Worker;
}

/** A replica with a worker of the queue, its modules in this order. */
async function replica(order: Order, worker: Type): Promise<INestApplication> {
  const queues = [
    BullModule.forRoot({ connection: { port: redis.port } }),
    BullModule.registerQueue({ name: queueName }),
  ];
  const locks = RedisLockModule.forRoot({ redis: redis.url, ttl: TTL, shutdownGrace: '1m' });
  const imports = order === 'queue first' ? [...queues, locks] : [locks, ...queues];
  const module = await Test.createTestingModule({
    imports,
    providers: [Payments, worker],
  }).compile();
  const app = module.createNestApplication({ logger: false });
  apps.push(app);
  return app.init();
}

function queueOf(app: INestApplication): Queue {
  return app.get<Queue>(getQueueToken(queueName));
}

/** What a job comes to, asked through a replica that lives. */
async function outcome(app: INestApplication, { id }: Job): Promise<unknown> {
  const job = await Job.fromId(queueOf(app), id!);
  return job!.waitUntilFinished(events, 30_000);
}

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

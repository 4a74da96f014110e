import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { type INestApplication, Injectable, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Job, type Queue, QueueEvents } from 'bullmq';
import { CurrentLease, type Lease, Locked, RedisLockModule } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { pasted } from '../docs/pages.js';
import { Gate } from '../support/gate.js';

const { LockedWorker } = await pasted<any>('docs/operations.md');

/** Shorter than what the bodies stay after the shutdown has begun: without renewal the lock would be free. */
export const TTL = 3_000;

/** In which a replica imports its modules. */
export const ORDERS = ['queue first', 'locks first'] as const;
type Order = (typeof ORDERS)[number];

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

export let bodies: Bodies;
export let events: QueueEvents;
let redis: RedisProcess;
let queueName: string;
let turn = 0;
const apps: INestApplication[] = [];

/** A Redis for BullMQ and for the locks, and in each test another queue, whose bodies are those of the test. */
export function useQueue(): void {
  beforeAll(async () => {
    redis = await RedisProcess.start();
  });
  afterAll(() => redis.stop());
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
}

/** A worker that leaves its jobs to BullMQ. */
export function plainWorker(concurrency: number): Type {
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
export function lockedWorker(concurrency: number): Type {
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
export async function replica(order: Order, worker: Type): Promise<INestApplication> {
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

export function queueOf(app: INestApplication): Queue {
  return app.get<Queue>(getQueueToken(queueName));
}

/** What a job comes to, asked through a replica that lives. */
export async function outcome(app: INestApplication, { id }: Job): Promise<unknown> {
  const job = await Job.fromId(queueOf(app), id!);
  return job!.waitUntilFinished(events, 30_000);
}

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { type INestApplication, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Job, type Queue, QueueEvents } from 'bullmq';
import { CurrentLease, type Lease, Locked, RedisLockModule } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { Gate } from '../support/gate.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

const TTL = 3_000;

/** What the bodies of one test do and tell. */
class Bodies {
  running = 0;
  most = 0;
  begun = 0;
  readonly leave = new Gate();
  readonly leases: Lease[] = [];

  async run(lease: Lease): Promise<void> {
    this.begun += 1;
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    this.leases.push(lease);
    await this.leave.opened;
    this.running -= 1;
  }
}

let bodies: Bodies;
let queueName = '';
let turn = 0;
beforeEach(() => {
  bodies = new Bodies();
  queueName = `queue-${(turn += 1)}`;
});

@Injectable()
class Payments {
  @Locked('payments')
  async settle(@CurrentLease() lease?: Lease): Promise<string> {
    await bodies.run(lease!);
    return 'settled';
  }
}

/** A replica with a worker of the queue, its modules in this order. */
async function replica(order: 'queue first' | 'locks first'): Promise<INestApplication> {
  @Processor(queueName, { concurrency: 1 })
  class Worker extends WorkerHost {
    constructor(readonly payments: Payments) {
      super();
    }

    process(): Promise<string> {
      return this.payments.settle();
    }
  }
  Reflect.defineMetadata('design:paramtypes', [Payments], Worker);
  const queues = [
    BullModule.forRoot({ connection: { port: redis.port } }),
    BullModule.registerQueue({ name: queueName }),
  ];
  const locks = RedisLockModule.forRoot({ redis: redis.url, ttl: TTL });
  const imports = order === 'queue first' ? [...queues, locks] : [locks, ...queues];
  const module = await Test.createTestingModule({
    imports,
    providers: [Payments, Worker],
  }).compile();
  return module.createNestApplication({ logger: false }).init();
}

describe.each(['queue first', 'locks first'] as const)(
  'a BullMQ job that runs when its replica shuts down (%s)',
  (order) => {
    it('keeps its lock until it ends: the job of another replica waits, and both succeed', async () => {
      const leaving = await replica(order);
      const queue = leaving.get<Queue>(getQueueToken(queueName));
      const events = new QueueEvents(queueName, { connection: { port: redis.port } });
      const first = await queue.add('settle', {});
      await until('the job runs', () => bodies.running === 1);
      const staying = await replica(order);
      const second: Job = await staying.get<Queue>(getQueueToken(queueName)).add('settle', {});
      let closed = false;
      const closing = leaving.close().then(() => (closed = true));
      const [lease] = bodies.leases;
      const before = lease!.expiresAt;
      await until('it was renewed for longer than its ttl', () => lease!.expiresAt > before + TTL);
      expect([bodies.most, closed, lease!.held, lease!.signal.aborted]).toEqual([
        1,
        false,
        true,
        false,
      ]);
      bodies.leave.open();
      for (const { id } of [first, second]) {
        const job = await Job.fromId(staying.get<Queue>(getQueueToken(queueName)), id!);
        await expect(job!.waitUntilFinished(events)).resolves.toBe('settled');
      }
      await closing;
      expect(bodies.most).toBe(1);
      expect(bodies.begun).toBe(2);
      await events.close();
      await staying.close();
    });
  },
);

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { HttpException, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Job, Queue } from 'bullmq';
import { Locked, LockNotAcquiredError } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';

const { server } = failing();
const failures: unknown[] = [];

@Processor('payments')
class Payments extends WorkerHost {
  @Locked('account:<job.data.account>', { wait: 0 })
  async process(job: Job<{ account: string }>): Promise<string> {
    return job.data.account;
  }

  @OnWorkerEvent('failed')
  failed(_: Job, error: Error): void {
    failures.push(error);
  }
}

describe('a job of BullMQ', () => {
  let redis: RedisProcess;
  let app: INestApplicationContext;
  beforeAll(async () => {
    redis = await RedisProcess.start();
    const module = await Test.createTestingModule({
      imports: [
        LockTestingModule.forRoot({ server }),
        BullModule.forRoot({ connection: { host: '127.0.0.1', port: redis.port } }),
        BullModule.registerQueue({ name: 'payments' }),
      ],
      providers: [Payments],
    }).compile();
    app = await module.init();
  });
  afterAll(async () => {
    await app.close();
    await redis.stop();
  });

  it('fails with the error itself, key and all: nobody outside sees it', async () => {
    const queue = app.get<Queue>(getQueueToken('payments'));
    const job = await queue.add('pay', { account: SECRET });
    await until('the job has failed', () => failures.length > 0);
    const [error] = failures;
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    expect(error).not.toBeInstanceOf(HttpException);
    expect(error).toMatchObject({ key: `account:${SECRET}`, code: 'LOCK_NOT_ACQUIRED', waited: 0 });
    await until('the reason is kept', async () => {
      const { failedReason } = (await queue.getJob(job.id!))!;
      return failedReason?.includes(SECRET);
    });
  });
});

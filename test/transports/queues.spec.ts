import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { HttpException, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Queue } from 'bullmq';
import { LockNotAcquiredError } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { failing, SECRET } from '../support/failing.js';
import { until } from '../support/until.js';
import { failed, Payments } from './payments.js';

const { server } = failing();

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
    await until('the job has failed', () => failed.length > 0);
    const [error] = failed;
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    expect(error).not.toBeInstanceOf(HttpException);
    expect(error).toMatchObject({ key: `account:${SECRET}`, code: 'LOCK_NOT_ACQUIRED', waited: 0 });
    await until('the reason is kept', async () => {
      const { failedReason } = (await queue.getJob(job.id!))!;
      return failedReason?.includes(SECRET);
    });
  });
});

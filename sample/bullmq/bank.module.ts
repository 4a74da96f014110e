import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { PostingsWorker } from './postings.worker.js';
import { Printer } from './printer.js';
import { StatementsService } from './statements.service.js';
import { StatementsWorker } from './statements.worker.js';

/** What both kinds of process need: the locks, the data and the queues. */
const shared = (redis: string) => [
  RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
  RedisModule.connectedTo(redis),
  BullModule.forRoot({ connection: { url: redis }, prefix: 'bank-demo:bull' }),
  BullModule.registerQueue({ name: 'statements' }, { name: 'postings' }),
];

/** Takes orders. */
@Module({ providers: [StatementsService, Printer] })
export class BankModule {
  static connectedTo(redis: string): DynamicModule {
    return { module: BankModule, imports: shared(redis) };
  }
}

/** Does the jobs. */
@Module({ providers: [StatementsWorker, PostingsWorker, Printer] })
export class WorkerModule {
  static connectedTo(redis: string): DynamicModule {
    return { module: WorkerModule, imports: shared(redis) };
  }
}

import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { PostingsWorker } from './postings.worker.js';
import { Printer } from './printer.js';
import { StatementsService } from './statements.service.js';
import { StatementsWorker } from './statements.worker.js';

@Module({ providers: [StatementsService, StatementsWorker, PostingsWorker] })
export class StatementsModule {
  static connectedTo(redis: string, printer: Printer): DynamicModule {
    return {
      module: StatementsModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
        BullModule.forRoot({ connection: { url: redis }, prefix: 'bank-demo:bull' }),
        BullModule.registerQueue({ name: 'statements' }, { name: 'postings' }),
      ],
      providers: [{ provide: Printer, useValue: printer }],
    };
  }
}

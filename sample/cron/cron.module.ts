import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { RedisLockModule } from 'nest-redis-lock';
import { DigestService } from './digest.service.js';
import { Outbox } from './outbox.js';

@Module({ providers: [DigestService] })
export class CronModule {
  static connectedTo(redis: string, outbox: Outbox): DynamicModule {
    return {
      module: CronModule,
      imports: [
        ScheduleModule.forRoot(),
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
      ],
      providers: [{ provide: Outbox, useValue: outbox }],
    };
  }
}

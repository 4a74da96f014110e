import { type DynamicModule, Module } from '@nestjs/common';
import { PgliteDatabase } from 'drizzle-orm/pglite';
import { RedisLockModule } from 'nest-redis-lock';
import { ExchangeRates } from './exchange-rates.js';
import { PayoutsService } from './payouts.service.js';

@Module({ providers: [PayoutsService, ExchangeRates] })
export class PayoutsModule {
  static connectedTo(redis: string, database: PgliteDatabase): DynamicModule {
    return {
      module: PayoutsModule,
      imports: [RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' })],
      providers: [{ provide: PgliteDatabase, useValue: database }],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { Database } from './database.js';
import { ReportService } from './report.service.js';

@Module({ providers: [ReportService] })
export class ReportsModule {
  static connectedTo(redis: string, database: Database): DynamicModule {
    return {
      module: ReportsModule,
      imports: [RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' })],
      providers: [{ provide: Database, useValue: database }],
    };
  }
}

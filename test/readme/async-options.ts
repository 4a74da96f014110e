import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';

class ConfigService {
  get(name: string): string | undefined {
    return process.env[name];
  }
}

@Module({ providers: [ConfigService], exports: [ConfigService] })
class ConfigModule {}

@Module({
  imports: [
    // #region async
    RedisLockModule.forRootAsync({
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({ redis: config.get('REDIS_URL'), ttl: '10s' }),
    }),
    // #endregion
  ],
})
export class AsyncModule {}

import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';

/** Before every key of the samples, so that they leave everything else on a server alone. */
export const KEY_PREFIX = 'bank-demo:';

/** The application's own connection to Redis, where it keeps its data. */
@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(private readonly redis: Redis) {}

  static connectedTo(url: string): DynamicModule {
    const redis = { provide: Redis, useFactory: () => new Redis(url, { keyPrefix: KEY_PREFIX }) };
    return { module: RedisModule, global: true, providers: [redis], exports: [Redis] };
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

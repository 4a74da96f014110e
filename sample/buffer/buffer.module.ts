import { type DynamicModule, Module } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { BoundedBuffer } from './bounded-buffer.js';

/** One replica that fills and empties the buffer. */
@Module({})
export class BufferModule {
  static connectedTo(url: string, capacity: number): DynamicModule {
    return {
      module: BufferModule,
      imports: [RedisLockModule.forRoot({ redis: url, keyPrefix: 'bank-demo:lock:' })],
      providers: [
        { provide: Redis, useFactory: () => new Redis(url) },
        {
          provide: BoundedBuffer,
          inject: [LockService, Redis],
          useFactory: (locks: LockService, redis: Redis) =>
            new BoundedBuffer(locks, redis, capacity),
        },
      ],
    };
  }
}

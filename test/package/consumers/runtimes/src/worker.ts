import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from 'nest-redis-lock';

/** `count`: adds to a counter that only locks protect. `hold`: holds a lock until it is told to end. */
const [, , what, times = '0'] = process.argv;
const redis = process.env.REDIS_URL!;

/** Far beyond what a busy machine takes. */
const patient = { wait: '60s', ttl: '60s', connectTimeout: '60s', commandTimeout: '30s' } as const;

@Module({ imports: [RedisLockModule.forRoot({ redis, ...patient, shutdownGrace: '1s' })] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const locks = app.get(LockService);
  if (what === 'hold') {
    app.enableShutdownHooks(['SIGTERM']); // Deno lets nobody listen to all that Nest listens to by default
    await locks.acquire('held');
    console.log('held');
    setInterval(() => {}, 1_000);
    return;
  }
  const data = new Redis(redis);
  const add = () =>
    locks.withLock('counter', async () => {
      const count = Number(await data.get('counter'));
      await data.set('counter', count + 1);
    });
  for (let left = Number(times); left > 0; left -= 4)
    await Promise.all([add(), add(), add(), add()]);
  data.disconnect();
  await app.close();
}

void main();

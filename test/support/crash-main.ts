// What a child process of the tests runs to die of its options: nobody catches what is thrown.
import { register } from 'node:module';

const hook = `
export function resolve(name, context, next) {
  if (${process.env['IOREDIS'] === '5'} && name === 'ioredis') return next('ioredis-5', context);
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { NestFactory } = await import('@nestjs/core');
const { LockService, RedisLockModule } = await import('../../lib/index.js');
const { late, ...options } = JSON.parse(process.env['CRASH_OPTIONS']!) as { late?: boolean };

const root = late
  ? RedisLockModule.forRootAsync({ useFactory: () => options })
  : RedisLockModule.forRoot(options);
const app = await NestFactory.createApplicationContext(root, { abortOnError: false });
await app.get(LockService).acquire('k');

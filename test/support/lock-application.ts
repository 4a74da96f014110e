import { Test, type TestingModule } from '@nestjs/testing';
import { RedisLockModule } from 'nest-redis-lock';

/** An application with locks on a Redis and nothing else, which logs nothing and ends at once. */
export async function application(redis: string): Promise<TestingModule> {
  const imports = [RedisLockModule.forRoot({ redis, shutdownGrace: 0 })];
  const silent = { log() {}, warn() {}, error() {} };
  const module = await Test.createTestingModule({ imports }).setLogger(silent).compile();
  return module.init();
}

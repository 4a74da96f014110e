import { afterEach, expect, it, jest } from '@jest/globals';
import { Controller, Get, type INestApplication, Logger, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, LockOptionsError, LockService, RedisLockModule } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

const apps: INestApplication[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Controller('accounts')
class AccountsController {
  static readonly running = new Gate();
  static readonly done = new Gate();

  @Get(':id')
  @Locked('account:<id>', { wait: 0 })
  async withdraw(@Param('id') id: string): Promise<string> {
    AccountsController.running.open();
    await AccountsController.done.opened;
    return id;
  }
}

it('two applications of one process exclude each other without a Redis', async () => {
  const [one, other] = await Promise.all([start(), start()]);
  const first = fetch(`${await one.getUrl()}/accounts/7`);
  await AccountsController.running.opened;
  const busy = await fetch(`${await other.getUrl()}/accounts/7`);
  AccountsController.done.open();
  expect([busy.status, (await first).status]).toEqual([409, 200]);
  const lease = await other.get(LockService).acquire('account:7');
  expect(lease.fencingToken).toBeGreaterThan(0);
  await lease.release();
});

it.each([
  ['memory:', 1],
  ['memory:one-process', 0],
])('a start with %s warns %d times that no other process sees the locks', async (redis, times) => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  await start(redis);
  expect(warn.mock.calls.filter(([text]) => /memory of this process/.test(text)).length).toBe(
    times,
  );
});

it('in production memory is refused unless the option says that there is one process', async () => {
  const { NODE_ENV } = process.env;
  process.env['NODE_ENV'] = 'production';
  try {
    expect(() => RedisLockModule.forRoot({ redis: 'memory:' })).toThrow(LockOptionsError);
    const app = await start('memory:one-process');
    const { state } = await app.get(LockService).inspect('account:7');
    expect(state).toBe('free');
  } finally {
    process.env['NODE_ENV'] = NODE_ENV;
  }
});

async function start(redis = 'memory:'): Promise<INestApplication> {
  @Module({ imports: [RedisLockModule.forRoot({ redis })], controllers: [AccountsController] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false });
  apps.push(app);
  await app.listen(0, '127.0.0.1');
  return app;
}

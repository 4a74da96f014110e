import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeaseLostError, StaleFencingTokenError } from '../../lib/index.js';
import { ClosingService } from '../../sample/fencing/closing.service.js';
import { FencingModule } from '../../sample/fencing/fencing.module.js';
import { Ledger } from '../../sample/fencing/ledger.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
let app: INestApplicationContext;
beforeAll(async () => {
  redis = await RedisProcess.start();
  app = await NestFactory.createApplicationContext(FencingModule.connectedTo(redis.url), {
    logger: false,
  });
});
afterAll(async () => {
  await app.close();
  await redis.stop();
});

it('refuses the total of a holder whose lease ran out while another wrote', async () => {
  const closing = app.get(ClosingService);
  let wakeUp!: (total: string) => void;
  const asleep = new Promise<string>((resolve) => (wakeUp = resolve));
  const tired = closing.close('monday', () => asleep);
  await closing.close('monday', async () => 'by the second');
  wakeUp('by the first');
  await expect(tired).rejects.toThrow(StaleFencingTokenError);
  expect(await app.get(Ledger).total('monday')).toBe('by the second');
});

it('says that the lease was lost where nobody wrote meanwhile', async () => {
  const late = new Promise<string>((resolve) => setTimeout(resolve, 2_000, 'late, but alone'));
  const closed = app.get(ClosingService).close('tuesday', () => late);
  await expect(closed).rejects.toThrow(LeaseLostError);
  expect(await app.get(Ledger).total('tuesday')).toBe('late, but alone');
});

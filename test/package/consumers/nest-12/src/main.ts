import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { isLockError, LockService } from 'nest-redis-lock';
import * as testing from 'nest-redis-lock/testing';
import { AppModule, Bank } from './bank.js';

/** Starts, locks in every way, says what came of it in one line of JSON, and ends by itself. */
async function main(): Promise<void> {
  const adapter =
    process.env['PLATFORM'] === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const busy = await app
    .get(LockService)
    .withLock('busy', () => app.get(LockService).acquire('busy', { wait: 0, reentrant: false }))
    .catch((error: unknown) => error);
  const facts = {
    platform: app.getHttpAdapter().getType(),
    route: await (await fetch(`${await app.getUrl()}/accounts/7`)).text(),
    withdrawn: await app.get(Bank).withdraw('42', 10),
    audited: await app.get(Bank).audit(),
    busy: isLockError(busy) && busy.code,
    testing: Object.keys(testing).sort(),
  };
  await app.close();
  console.log(JSON.stringify(facts));
}

void main();

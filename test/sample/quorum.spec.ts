import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QuorumNotReachedError } from '../../lib/index.js';
import { Book } from '../../sample/quorum/book.js';
import { InvoicesModule } from '../../sample/quorum/invoices.module.js';
import { InvoicesService } from '../../sample/quorum/invoices.service.js';
import { RedisProcess } from '../../tools/redis-server.js';

let servers: RedisProcess[];
let book: Book;
const replicas: INestApplicationContext[] = [];
beforeEach(async () => {
  servers = await Promise.all([1, 2, 3].map(() => RedisProcess.start()));
  book = new Book();
  const module = InvoicesModule.votedOnBy(
    servers.map(({ url }) => url),
    book,
  );
  for (let replica = 0; replica < 2; replica += 1) {
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
});
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.close();
  for (const server of servers) await server.stop();
});

function issue(count: number): Promise<number[]> {
  const services = replicas.map((replica) => replica.get(InvoicesService));
  return Promise.all(Array.from({ length: count }, (_, nth) => services[nth % 2]!.next()));
}

it('numbers are issued once and without a gap while one of three servers is switched off', async () => {
  const all = Promise.all([issue(20), issue(20)]);
  while (book.numbers.length < 5) await new Promise(setImmediate);
  await servers[2]!.kill();
  await all;
  expect(book.numbers).toEqual(Array.from({ length: 40 }, (_, nth) => nth + 1));
});

it('no number is issued while two of three are off, and the next one as soon as one is back', async () => {
  await issue(2);
  await Promise.all([servers[0]!.kill(), servers[1]!.kill()]);
  await expect(issue(1)).rejects.toBeInstanceOf(QuorumNotReachedError);
  expect(book.numbers).toEqual([1, 2]);
  await servers[1]!.run();
  while (!(await issue(1).catch(() => undefined))) await new Promise(setImmediate);
  expect(book.numbers).toEqual([1, 2, 3]);
});

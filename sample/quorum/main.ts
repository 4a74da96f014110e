import { NestFactory } from '@nestjs/core';
import { QuorumNotReachedError } from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import { Book } from './book.js';
import { InvoicesModule } from './invoices.module.js';
import { InvoicesService } from './invoices.service.js';

const servers = [
  await RedisProcess.start(),
  await RedisProcess.start(),
  await RedisProcess.start(),
];
const book = new Book();
const replica = () => {
  const nodes = servers.map(({ url }) => url);
  return NestFactory.createApplicationContext(InvoicesModule.votedOnBy(nodes, book), {
    logger: false,
  });
};
const replicas = [await replica(), await replica()];

/** So many numbers, asked for on both replicas at once. */
async function issue(count: number): Promise<void> {
  const services = replicas.map((each) => each.get(InvoicesService));
  await Promise.all(Array.from({ length: count }, (_, nth) => services[nth % 2]!.next()));
}

const busy = issue(60);
await issue(40);
await servers[0]!.kill();
console.log('One of three servers is switched off while numbers are issued.');
await busy;
await issue(50);
await servers[1]!.kill();
const refused = await issue(1).catch((error: unknown) => error);
if (!(refused instanceof QuorumNotReachedError)) throw new Error('One server is no majority.');
console.log(`Two of three are off. ${refused.message}`);
await servers[1]!.run();
await replicas[0]!.get(InvoicesService).next();
const whole = book.numbers.every((number, at) => number === at + 1);
console.log(`${book.numbers.length} numbers, ${whole ? 'none twice, no gap' : 'WRONG'}.`);

for (const each of replicas) await each.close();
for (const server of servers) await server.stop();

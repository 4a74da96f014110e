import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { TransferModule } from './transfer.module.js';
import { TransferService } from './transfer.service.js';

const redis = await redisForSamples();
const replica = () =>
  NestFactory.createApplicationContext(TransferModule.connectedTo(redis.url), { logger: false });
const replicas = [await replica(), await replica(), await replica()];
const services = replicas.map((each) => each.get(TransferService));
const [bank] = services;

const accounts = ['ann', 'bob', 'cid'];
for (const account of accounts) await bank!.deposit(account, 1_000);
const transfers = Array.from({ length: 300 }, (_, nth) => {
  const from = nth % 3;
  const to = (from + 1 + (nth % 2)) % 3; // there and back, between all of them
  return services[nth % 3]!.transfer(accounts[from]!, accounts[to]!, 1 + ((nth * nth) % 11));
});
const done = await Promise.allSettled(transfers);
const balances = await Promise.all(accounts.map((account) => bank!.balance(account)));
console.log(
  `${done.filter(({ status }) => status === 'fulfilled').length} transfers, no deadlock.`,
);
console.log(`${balances.join(' + ')} = ${balances.reduce((sum, each) => sum + each)}`);

for (const each of replicas) await each.close();
await redis.close();

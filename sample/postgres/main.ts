import { NestFactory } from '@nestjs/core';
import { setTimeout } from 'node:timers/promises';
import { LockService } from 'nest-redis-lock';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { ExchangeRates } from './exchange-rates.js';
import { PayoutsModule } from './payouts.module.js';
import { PayoutsService } from './payouts.service.js';
import { openDatabase, payouts, shops } from './schema.js';

const redis = await redisForSamples();
const database = await openDatabase();
const replica = () =>
  NestFactory.createApplicationContext(PayoutsModule.connectedTo(redis.url, database), {
    logger: false,
  });
const [first, second] = [await replica(), await replica()];

await database.insert(shops).values([
  { id: 'bakery', balance: 70 },
  { id: 'florist', balance: 90 },
]);
const paid = [first, second].map((each) => each.get(PayoutsService).payOut('bakery'));
console.log(`Two replicas at once paid out ${(await Promise.all(paid)).join(' and ')}.`);

// The first asks for the rate and gets no answer. An operator takes its lock away, and another pays out.
const rates = first.get(ExchangeRates);
const before = rates.questions;
const answer = rates.hang();
const stale = first.get(PayoutsService).payOut('florist');
while (rates.questions === before) await setTimeout(10);
await second.get(LockService).forceRelease('shop:florist');
const amount = await second.get(PayoutsService).payOut('florist');
console.log(`A holder hangs, and its lock is taken away. Another pays out ${amount}.`);
answer();
await stale.catch((error: Error) => console.log(`The first goes on: ${error.message}`));
console.log('In the database:', await database.select().from(payouts));

for (const each of [first, second]) await each.close();
await database.$client.close();
await redis.close();

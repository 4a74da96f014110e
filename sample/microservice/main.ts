import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { freePort } from '../../tools/redis-server.js';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { CardsModule } from './cards.module.js';
import { Till } from './till.js';
import { TillModule } from './till.module.js';

const redis = await redisForSamples();
const port = await freePort();
const cards = await NestFactory.createMicroservice<MicroserviceOptions>(
  CardsModule.connectedTo(redis.url),
  { transport: Transport.TCP, options: { host: '127.0.0.1', port }, logger: false },
);
await cards.listen();
const shop = await NestFactory.createApplicationContext(TillModule.connectedTo(port), {
  logger: false,
});
const till = shop.get(Till);

const charges = [30, 20, 10].map((amount) => till.charge({ card: 'ann', amount }));
const spent = await Promise.all(charges);
for (const { code, message } of till.refusals) console.log(`${code}: ${message}`);
console.log(`Three charges at once, one after the other in the end: ${Math.max(...spent)} spent.`);

await shop.close();
await cards.close();
await redis.close();

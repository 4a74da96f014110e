import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { StockService } from './stock.service.js';
import { TransactionModule } from './transaction.module.js';

const redis = await redisForSamples();
const app = await NestFactory.createApplicationContext(TransactionModule.connectedTo(redis.url), {
  logger: false,
});
const stock = app.get(StockService);

async function tenBuyers(item: string, buy: () => Promise<void>): Promise<number> {
  await stock.fill(item, 100);
  await Promise.all(Array.from({ length: 10 }, buy));
  return stock.left(item);
}

const right = await tenBuyers('book', () => stock.sell('book'));
console.log(`@Locked above @Transactional: of 100, 10 were sold, ${right} are left.`);
const wrong = await tenBuyers('pen', () => stock.sellAndCommitTooLate('pen'));
console.log(`@Transactional above @Locked: of 100, 10 were sold, ${wrong} are left.`);

await app.close();
await redis.close();

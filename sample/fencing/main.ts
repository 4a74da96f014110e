import { NestFactory } from '@nestjs/core';
import { setTimeout } from 'node:timers/promises';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { ClosingService } from './closing.service.js';
import { FencingModule } from './fencing.module.js';
import { Ledger } from './ledger.js';

const redis = await redisForSamples();
const app = await NestFactory.createApplicationContext(FencingModule.connectedTo(redis.url), {
  logger: false,
});
const closing = app.get(ClosingService);

const tired = closing.close('monday', () => setTimeout(600, 'the total of the tired one'));
const awake = closing.close('monday', async () => 'the total of the one who is awake');

await awake;
console.log('The lease of the first holder ran out; the second has written.');
await tired.catch((error: Error) => console.log(`The first woke up: ${error.message}`));
console.log(`In the ledger: ${await app.get(Ledger).total('monday')}.`);

await app.close();
await redis.close();

import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { redisForSamples } from './redis/redis-for-samples.js';

const redis = await redisForSamples();
const app = await NestFactory.create(AppModule.connectedTo(redis.url), {
  forceCloseConnections: true,
});
await app.listen(process.env['PORT'] ?? 3000);
const bank = (await app.getUrl()).replace('[::1]', 'localhost');

console.log(`
A bank is open, on ${redis.description}. Its locks: ${bank}/locks
To try in another terminal:

  curl ${bank}/accounts/alice/deposits -d amount=100
  curl ${bank}/accounts/alice/withdrawals -d amount=30
  curl ${bank}/accounts/alice/transfers -d to=bob -d amount=20
  curl ${bank}/accounts/bob

  curl ${bank}/accounts/alice/audits -d seconds=20 &     # holds the lock for 20 s
  curl ${bank}/accounts/alice/lock                       # who holds it, and who waits
  curl -i ${bank}/accounts/alice/deposits -d amount=1    # waits for 10 s, then 409

  curl ${bank}/metrics                                   # for Prometheus
  curl ${bank}/health                                    # 503 while Redis is gone
`);

async function closeTheBank(): Promise<void> {
  await app.close();
  await redis.close();
  process.exit(); // an audit may still be at work
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void closeTheBank());

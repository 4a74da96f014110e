// Run by tools/acquire-path.mjs: an application with a decorated method, watched by a debugger in a thread beside it.
// Prints a JSON object: for each way, its frames of lib, in the order of calls; for some, how many promises it makes.
import { promiseHooks } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { settledStacks } from './settled-stacks.js';
import { until } from './until.js';

@Injectable()
class Accounts {
  @Locked('account:<id>')
  async decorated(id: string): Promise<string> {
    return id;
  }
}

const watched = globalThis as { watched?: boolean };
const watcher = new Worker(new URL('./stack-watcher.js', import.meta.url));
const said = (): Promise<unknown> =>
  new Promise((resolve, reject) => watcher.once('message', resolve).once('error', reject));
await said();

function application(): Promise<INestApplicationContext> {
  const imports = [RedisLockModule.forRoot({ redis: redis.url })];
  const root = { module: class Root {}, imports, providers: [Accounts] };
  return NestFactory.createApplicationContext(root, { logger: false });
}

const redis = await RedisProcess.start();
const app = await application();
const accounts = app.get(Accounts);
const locks = app.get(LockService);

/** What `act` answers, and the stack of the first write to a socket that it leads to. */
async function firstWrite<T>(act: () => Promise<T>): Promise<[stack: unknown, answer: T]> {
  const stack = said();
  watched.watched = true;
  const answer = await act();
  return [await stack, answer];
}

/** The frames between the socket's data and the promise of a caller whom another process hands the lock. */
async function pushed(): Promise<readonly string[]> {
  const neighbour = await application();
  const other = neighbour.get(LockService);
  const held = await other.acquire('pushed');
  const stacks = settledStacks();
  const waiting = locks.acquire('pushed', { wait: 60_000 });
  await until('the caller waits', async () => (await locks.inspect('pushed')).waiting === 1);
  stacks.start();
  await held.release();
  const lease = await waiting;
  const found = stacks.stop();
  await lease.release();
  await neighbour.close();
  return found;
}

/** How many promises one call makes, its own included; of some calls the fewest, for timers may make theirs meanwhile. */
async function promisesOf(call: () => Promise<unknown>): Promise<number> {
  let fewest = Infinity;
  for (let calls = 0; calls < 20; calls += 1) {
    let made = 0;
    const stop = promiseHooks.onInit(() => (made += 1)) as () => void;
    await call();
    stop();
    fewest = Math.min(fewest, made - 1); // the `await` here makes one
  }
  return fewest;
}

for (let i = 0; i < 50; i++) await accounts.decorated('warm');
const [locked] = await firstWrite(() => accounts.decorated('seen'));
const [acquire, lease] = await firstWrite(() => locks.acquire('seen'));
const [release] = await firstWrite(() => lease.release());
const promises = {
  locked: await promisesOf(() => accounts.decorated('seen')),
  withLock: await promisesOf(() => locks.withLock('seen', () => {})),
  acquire: await promisesOf(() => locks.acquire('seen').then((held) => held.release())),
};
const ways = { locked, acquire, release, pushed: await pushed() };
process.stdout.write(JSON.stringify({ ways, promises }));
await app.close();
await watcher.terminate();
await redis.stop();

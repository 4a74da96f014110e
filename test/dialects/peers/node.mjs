// Libraries for Node, for the tests: a question a line on stdin, an answer a line on stdout. Told its servers' ports, and which library.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const [ports, library] = process.argv.slice(2);
const urls = ports.split(',').map((port) => `redis://127.0.0.1:${port}`);
// A server that is down is no answer, now and not when it is back.
const connections = urls.map(
  (url) => new Redis(url, { enableOfflineQueue: false, lazyConnect: true }),
);
for (const connection of connections) connection.on('error', () => {});
const [first] = connections;
/** What has a project of its own. */
const require = createRequire(new URL('node/', import.meta.url));

/** A service of a Nest module. */
async function service(token, ...imports) {
  const { NestFactory } = require('@nestjs/core');
  const module = { module: class Replica {}, imports };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  return app.get(token, { strict: false });
}

/** Clients of node-redis. */
function nodeRedis() {
  const { createClient } = require('redis');
  return Promise.all(
    urls.map((url) =>
      createClient({ url, disableOfflineQueue: true })
        .on('error', () => {})
        .connect(),
    ),
  );
}

/** Whether this value stands at a key of most servers: for libraries that do not say whether they gave anything back. */
async function isAt(key, value) {
  const found = await Promise.all(connections.map((each) => each.get(key).catch(() => null)));
  return found.filter((each) => each === value).length > urls.length / 2;
}

/** Attempts of who waits: more than any test takes. */
const MANY = 1e6;
/** Of who waits, in ms: longer than anything here. */
const LEASE = 30_000;

/**
 * How to take a lock, which answers with how to give it back; both may reject, or answer with nothing or false where they
 * failed. Who `waits` asks again as the library does by itself, until it has the lock; others ask once.
 */
const libraries = {
  async 'redlock 4'(waits) {
    const { default: Redlock } = await import('redlock-4');
    const redlock = new Redlock(connections, { retryCount: waits ? -1 : 0 });
    redlock.on('clientError', () => {});
    return async (name, ttl) => {
      const lock = await redlock.lock(name, ttl);
      return () => lock.unlock();
    };
  },

  async 'redlock 5'(waits) {
    const { default: Redlock } = await import('redlock-5');
    const redlock = new Redlock(connections, { retryCount: waits ? -1 : 0 });
    redlock.on('error', () => {});
    return async (name, ttl) => {
      const lock = await redlock.acquire([name], ttl);
      return () => lock.release();
    };
  },

  async 'redis-semaphore'(waits) {
    const { Mutex, RedlockMutex } = (await import('redis-semaphore')).default;
    const attempts = waits ? { acquireTimeout: Infinity } : { acquireAttemptsLimit: 1 };
    return async (name, ttl) => {
      const options = { lockTimeout: ttl, refreshInterval: 0, ...attempts };
      const mutex =
        urls.length > 1
          ? new RedlockMutex(connections, name, options)
          : new Mutex(first, name, options);
      await mutex.acquire();
      return async () => {
        const isOurs = await isAt(`mutex:${name}`, mutex.identifier);
        await mutex.release();
        return isOurs;
      };
    };
  },

  async '@nestjs-redis/lock'(waits) {
    const { RedlockModule, RedlockService } = require('@nestjs-redis/lock');
    const redlockConfig = { maxRetryAttempts: waits ? MANY : 0 };
    const options = { clients: await nodeRedis(), redlockConfig };
    const redlock = await service(RedlockService, RedlockModule.forRoot(options));
    return async (name, ttl) => {
      const lock = await redlock.acquire([name], ttl);
      return lock && (() => lock.release());
    };
  },

  async 'redlock-universal'(waits) {
    const { createLock, createRedlock, IoredisAdapter } = require('redlock-universal');
    const adapters = connections.map((each) => IoredisAdapter.from(each));
    return async (key, ttl) => {
      const options = { key, ttl, retryAttempts: waits ? MANY : 0 };
      const lock =
        urls.length > 1
          ? createRedlock({ adapters, ...options })
          : createLock({ adapter: adapters[0], ...options });
      const handle = await lock.acquire();
      return () => lock.release(handle);
    };
  },

  async 'nestjs-redlock-universal'(waits) {
    const { RedlockModule, RedlockService } = require('nestjs-redlock-universal');
    const { IoredisAdapter } = require('redlock-universal');
    const nodes = connections.map((each) => IoredisAdapter.from(each));
    const module = RedlockModule.forRoot({ nodes, retryAttempts: waits ? MANY : 0 });
    const redlock = await service(RedlockService, module);
    return async (name, ttl) => {
      const handle = await redlock.acquire(name, ttl);
      return async () => {
        const isOurs = await isAt(name, handle.value);
        await redlock.release(name, handle);
        return isOurs;
      };
    };
  },

  async 'nestjs-simple-redis-lock'(waits) {
    const { RedisModule } = require('@liaoliaots/nestjs-redis');
    const { RedisLockModule, RedisLockService } = require('nestjs-simple-redis-lock');
    const redis = RedisModule.forRoot({ config: { url: urls[0] } });
    const locks = await service(RedisLockService, redis, RedisLockModule.register({}));
    return async (name, ttl) => {
      if (waits) await locks.lock(name, ttl, 100, MANY);
      else if (!(await locks.lockOnce(name, ttl))) return false;
      return async () => {
        const isOurs = await isAt(`lock:${name}`, locks.uuid);
        await locks.unlock(name);
        return isOurs;
      };
    };
  },

  async murlock(waits) {
    const { MurLockModule, MurLockService } = require('murlock');
    const options = { redisOptions: { url: urls[0] }, logLevel: 'none', maxAttempts: 1, wait: 1 };
    const module = MurLockModule.forRoot({ ...options, blocking: waits });
    const locks = await service(MurLockService, module);
    return (name, ttl) =>
      new Promise((resolve, reject) => {
        const over = locks.runWithLock(
          name,
          ttl,
          () => new Promise((done) => resolve(() => (done(), over))),
        );
        over.catch(reject);
      });
  },

  async '@verrou/core'(waits) {
    const { LockFactory } = await import('@verrou/core');
    const { redisStore } = await import('@verrou/core/drivers/redis');
    const locks = new LockFactory(redisStore({ connection: first }).factory());
    return async (name, ttl) => {
      const lock = locks.createLock(name, ttl);
      if (!(await (waits ? lock.acquire() : lock.acquireImmediately()))) return false;
      return () => lock.release();
    };
  },

  async '@microfleet/ioredis-lock'(waits) {
    const { createLock } = await import('@microfleet/ioredis-lock');
    return async (name, ttl) => {
      const lock = createLock(first, { timeout: ttl, retries: waits ? MANY : 0 });
      await lock.acquire(name);
      return () => lock.release();
    };
  },
};

await Promise.all(connections.map((each) => each.connect()));
const once = await libraries[library](false);
let waiting;
const held = new Map();

/** Whether a promise was kept, and not by a refusal. */
function kept(promise) {
  return promise.then(
    (answer) => answer !== false && answer !== null,
    () => false,
  );
}

/** On the monotonic clock. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

const answers = {
  async acquire({ name, ttl }) {
    const taken = once(name, ttl);
    if (!(await kept(taken))) return false;
    held.set(name, await taken);
    return true;
  },

  release: ({ name }) => kept(held.get(name)()),

  /** Waits for the lock, adds 1 to what stands at `value:<name>`, and gives it back. */
  async 'next turn'({ name }) {
    const release = await (await (waiting ??= libraries[library](true)))(name, LEASE);
    const from = now();
    const value = Number(await first.get(`value:${name}`));
    await sleep(Math.random() * 3);
    await first.set(`value:${name}`, value + 1);
    const to = now();
    return { from, to, released: await kept(release()) };
  },
};

// Those who wait do so beside each other, and are answered in their order.
let last;
for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...question } = JSON.parse(line);
  const answer = Promise.resolve(answers[ask]?.(question) ?? true);
  last = Promise.all([answer, last]).then(([said]) => console.log(JSON.stringify(said)));
}

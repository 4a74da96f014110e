// redlock, for the tests: a question a line on stdin, an answer a line on stdout. Told its servers' ports, and which major.
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

const [ports, major] = process.argv.slice(2);
const { default: Redlock } = await import(`redlock-${major}`);
// A server that is down is no answer, now and not when it is back.
const options = { enableOfflineQueue: false, lazyConnect: true };
const clients = ports.split(',').map((port) => new Redis({ port, ...options }));
for (const client of clients) client.on('error', () => {});
await Promise.all(clients.map((client) => client.connect()));
const redlock = new Redlock(clients, { retryCount: 0 });
redlock.on('error', () => {});
const held = new Map();

/** Whether a promise was kept. */
function kept(promise) {
  return promise.then(
    () => true,
    () => false,
  );
}

async function answer({ ask, name, ttl }) {
  if (ask === 'release') {
    const lock = held.get(name);
    return kept(lock.unlock ? lock.unlock() : lock.release());
  }
  if (ask !== 'acquire') return true;
  const acquired = redlock.lock ? redlock.lock(name, ttl) : redlock.acquire([name], ttl);
  return kept(acquired.then((lock) => held.set(name, lock)));
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}

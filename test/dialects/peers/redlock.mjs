// redlock 5, for the tests: a question a line on stdin, an answer a line on stdout.
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import Redlock from 'redlock-5';

const redlock = new Redlock([new Redis(process.argv[2])], { retryCount: 0 });
const held = new Map();

/** Whether a promise was kept. */
function kept(promise) {
  return promise.then(
    () => true,
    () => false,
  );
}

async function answer({ ask, name, ttl }) {
  if (ask === 'release') return kept(held.get(name).release());
  if (ask !== 'acquire') return true;
  return kept(redlock.acquire([name], ttl).then((lock) => held.set(name, lock)));
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}

import type { Redis } from 'ioredis';
import type { Account } from '../accounts/accounts.repository.js';
import { Books, type Comparison } from './books.js';
import { send, type Traffic } from './load.js';
import { ProgressBar } from './progress-bar.js';
import type { Replica } from './replica.js';
import type { Workload } from './workload.js';

/** One workload, sent with or without the lock, and what became of the money. */
export interface Trial extends Comparison, Traffic {
  readonly workload: string;
  readonly requests: number;
  readonly locked: boolean;
}

const OPENING: Account = { balance: 10_000, bookings: 0 };

export async function runTrial(
  workload: Workload,
  locked: boolean,
  replicas: readonly Replica[],
  redis: Redis,
): Promise<Trial> {
  const { name, accounts, requests } = workload;
  const keys = accounts.map((id) => `account:${id}`);
  await redis.mset(Object.fromEntries(keys.map((key) => [key, JSON.stringify(OPENING)])));

  const books = new Books(accounts, OPENING);
  const title = `${locked ? 'with the lock,   ' : 'without the lock,'} ${name}`.padEnd(30);
  const bar = new ProgressBar(title, requests);
  const root = locked ? '/accounts' : '/unlocked/accounts';
  const traffic = await send(workload, root, replicas, books, () => bar.advance());
  bar.finish(`${requests} requests in ${traffic.seconds.toFixed(1)} s`);

  const found = await redis.mget(keys);
  const actual = new Map(accounts.map((id, i) => [id, JSON.parse(found[i]!) as Account]));
  return { workload: name, requests, locked, ...traffic, ...books.compare(actual) };
}

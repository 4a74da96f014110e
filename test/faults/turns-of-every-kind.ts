import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import type { Application } from '../histories/application.js';

/** One turn: it is inside while it has what `most` may have at a time. */
export type Turn = (app: Application, inside: (most: number) => Promise<void>) => Promise<unknown>;

const wait = 60_000;

const alone: Turn = ({ locks }, inside) => locks.withLock('k', { wait }, () => inside(1));
const reading: Turn = ({ locks }, inside) =>
  locks.withLock('k', { wait, mode: 'shared' }, () => inside(Infinity));
const permitted: Turn = ({ locks }, inside) =>
  locks.semaphore('k', { permits: 2 }).withPermit({ wait }, () => inside(2));
const awaiting: Turn = async ({ locks }, inside) => {
  const lease = await locks.acquire('k', { wait });
  try {
    await inside(1);
    await locks.condition(lease, 'met').await({ wait: 100 });
    await inside(1);
  } finally {
    await lease.release();
  }
};
const signalling: Turn = async ({ locks }, inside) => {
  const lease = await locks.acquire('k', { wait });
  try {
    await inside(1);
    await locks.condition(lease, 'met').signal();
  } finally {
    await lease.release();
  }
};
const leading: Turn = async ({ locks }, inside) => {
  const election = locks.election('k');
  await election.campaign();
  await inside(1);
  await election.resign();
};

/** What is asked for by turns, and with which options. */
export const KINDS: Record<string, [turns: Turn[], options?: RedisLockOptions]> = {
  'a lock held alone, served by process,': [[alone], { fairness: 'local' }],
  'a lock held alone, in strict order,': [[alone], { fairness: 'strict' }],
  'a lock held alone, confirmed by the replica,': [[alone], { replicas: { acks: 1 }, ttl: 2_000 }],
  'a lock of readers and writers': [[reading, alone]],
  'a semaphore': [[permitted]],
  'a lock with a condition': [[awaiting, signalling]],
  'an election': [[leading]],
};

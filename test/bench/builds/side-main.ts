// One side of a comparison of builds: does the work that it is told, and tells what it cost.
import { Redis } from 'ioredis';
import { resolve } from 'node:path';
import { nestRedisLock } from '../adapters/nest-redis-lock.js';
import { buildAt } from '../adapters/library.js';
import { raw } from '../adapters/raw.js';
import { serverLoad } from '../measure/server-load.js';
import { WATCHERS } from './watchers.js';
import type { Cost, Work } from './work.js';

const [, , name, url] = process.argv as [string, string, string, string];
const redis = new Redis(url);
const [folder, watcher] = name.split('@') as [string, string?];
if (!name.startsWith('raw')) buildAt(resolve(folder));
if (watcher !== undefined) await WATCHERS[watcher]!();
const side = name.startsWith('raw')
  ? raw(name, { enableAutoPipelining: name !== 'raw' })
  : nestRedisLock;
const client = await side.open([url]);
let cyclesEver = 0;

function keyOf({ keys }: Work, caller: number): string {
  if (keys === 'one') return 'bench:hot';
  return keys === 'same' ? `bench:${caller}` : `bench:${caller}:${(cyclesEver += 1)}`;
}

async function cycles(work: Work): Promise<void> {
  let left = work.cycles;
  const call = async (caller: number): Promise<void> => {
    while ((left -= 1) >= 0) await (await client.acquire(keyOf(work, caller)))!();
  };
  await Promise.all(Array.from({ length: work.width }, (_, caller) => call(caller)));
}

/** Without a full collection before: after one the compiler begins anew, and that costs three times what the work does. */
async function measured(work: Work): Promise<Cost> {
  await redis.flushall();
  const before = await serverLoad(redis);
  const cpu = process.cpuUsage();
  const from = performance.now();
  await cycles(work);
  const wall = (performance.now() - from) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const { cpu: server, bytes, reads } = await serverLoad(redis);
  const each = (total: number): number => total / work.cycles;
  return {
    client: each(user + system),
    server: each(server - before.cpu),
    bytes: each(bytes - before.bytes),
    reads: each(reads - before.reads),
    wall: each(wall),
  };
}

process.on('message', (work: Work) => void measured(work).then((cost) => process.send!(cost)));
process.once('disconnect', () => process.exit());
process.send!('ready');

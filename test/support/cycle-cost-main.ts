// Run by tools/cycle-cost.mjs: what the cycle of a free lock costs in Redis, script by script, and in the client, by
// whose code runs, beside SET NX PX and a script that compares and deletes; the same in new processes, and what a node of a
// quorum does. Prints a JSON object of tables, in µs.
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { exclusive } from '../../lib/engine/locks/native-scripts.js';
import { scripts as quorum } from '../../lib/engine/locks/quorum/quorum-node.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { COMPARE_AND_DELETE, CYCLES } from './cycles.js';
import { median } from './median.js';
import {
  closeProfiler,
  inTable,
  openProfiler,
  profiled,
  rounded,
  type Spent,
  type Table,
} from './profile.js';

type Step = (client: Redis, nth: number) => Promise<unknown>;

const ROUNDS = 7;
const CALLS = 4_000;

/** The commands of the script that takes a free lock, each behind those before it. */
const COMMANDS = [
  ['a script that does nothing', ''],
  ['and reads the clock', "redis.call('TIME')"],
  [
    'and looks at the lock, its queue and its version',
    "redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4])",
  ],
  ['and mints tokens', "redis.call('SET', KEYS[1], ARGV[1], 'PX', 86400000, 'GET')"],
  ['and writes the lock', "redis.call('SET', KEYS[2], ARGV[4] .. ARGV[5], 'NX', 'PX', ARGV[2])"],
] as const;

const server = await RedisProcess.start();

/** The processor time of the server so far, in µs. */
async function spentBy(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const of = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1]);
  return (of('used_cpu_user') + of('used_cpu_sys')) * 1e6;
}

/** What each step costs Redis, one at a time: its own time, and that with what a command on a socket costs anyway. */
async function inRedis(): Promise<Table> {
  const client = new Redis(server.url);
  const id = 'x'.repeat(60);
  const names = (nth: number): string[] => {
    return ['nrl:{fence}:fence', `nrl:{${nth}}`, `nrl:{${nth}}:queue`, `nrl:{${nth}}:version`];
  };
  const ask = [9e15, 30_000, 128, id.slice(0, 32), id.slice(32)];
  const script = async (
    text: string,
    keys: (nth: number) => string[],
    args: unknown[],
  ): Promise<Step> => {
    const sha = (await client.script('LOAD', text)) as string;
    return (of, nth) => of.evalsha(sha, keys(nth).length, ...keys(nth), ...(args as string[]));
  };
  const steps: Record<string, Step> = {
    'SET NX PX': (of, nth) => of.set(`nrl:{${nth}}`, id, 'PX', 30_000, 'NX'),
  };
  for (const nth of COMMANDS.keys()) {
    const commands = COMMANDS.slice(0, nth + 1).map(([, text]) => text);
    steps[COMMANDS[nth]![0]] = await script(`${commands.join('\n')} return 1`, names, ask);
  }
  steps['acquire-free.lua'] = await script(exclusive.acquireFree.source, names, ask);
  steps['compare and delete'] = await script(COMPARE_AND_DELETE, (nth) => [names(nth)[1]!], [id]);
  const given = (nth: number): string[] => names(nth).slice(1, 3);
  const vote = (nth: number): string[] => [`nrl:{${nth}}`, `nrl:{${nth}}:fence`];
  const [holder, attempt] = [id.slice(0, 40), 7];
  const wanted = [holder, attempt, 30_000, 128, 0, 9e15];
  steps['acquire.lua of a quorum'] = await script(quorum.acquire.source, vote, wanted);
  steps['acquire.lua of a quorum, no tokens'] = await script(
    quorum.acquire.source,
    vote,
    wanted.with(3, 0),
  );
  const owner = [id.slice(0, 32), id.slice(32)];
  steps['release-free.lua'] = await script(exclusive.releaseFree.source, given, owner);
  const voted = (nth: number): string[] => vote(nth).slice(0, 1);
  steps['release.lua of a quorum'] = await script(quorum.release.source, voted, [holder, '']);

  const found: Record<string, { script: number[]; all: number[] }> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, step] of Object.entries(steps)) {
      await client.flushall();
      for (let nth = 0; nth < CALLS; nth += 1) {
        if (name.includes('delete')) await client.set(`nrl:{${nth}}`, id);
        if (name.startsWith('release')) {
          const held = name.includes('quorum') ? `${holder}/${attempt}/1` : owner.join('/');
          await client.set(`nrl:{${nth}}`, held);
        }
      }
      await client.config('RESETSTAT');
      const before = await spentBy(client);
      for (let nth = 0; nth < CALLS; nth += 1) await step(client, nth);
      const spent = (await spentBy(client)) - before;
      const stats = await client.info('commandstats');
      const command = name === 'SET NX PX' ? 'set' : 'evalsha';
      const own = new RegExp(`cmdstat_${command}:.*?usec_per_call=([\\d.]+)`).exec(stats)![1];
      if (round === 0) continue;
      const at = (found[name] ??= { script: [], all: [] });
      at.script.push(Number(own));
      at.all.push(spent / CALLS);
    }
  }
  client.disconnect();
  return Object.fromEntries(
    Object.entries(found).map(([name, { script: own, all }]) => [
      name,
      { 'its own time': rounded(median(own)), 'processor time': rounded(median(all)) },
    ]),
  );
}

type Rounds = Record<string, Spent[]>;

/** One at a time, when the code is compiled. */
async function inClient(): Promise<Table> {
  const rounds: Rounds = {};
  const all = await Promise.all(
    Object.entries(CYCLES).map(async ([name, open]) => [name, await open(server.url)] as const),
  );
  await openProfiler();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, cycles] of all) {
      const spent = await profiled(async () => {
        for (let nth = 0; nth < CALLS; nth += 1) await cycles.run();
        return CALLS;
      });
      await pause(50); // what the cycles left behind is over
      if (round > 0) (rounds[name] ??= []).push(spent);
    }
  }
  closeProfiler();
  for (const [, cycles] of all) await cycles.close();
  return inTable(rounds);
}

/** 16 at a time, in the first 250 ms of a process. */
function inFreshProcesses(): Table {
  const program = fileURLToPath(new URL('./fresh-cycles-main.js', import.meta.url));
  const rounds: Rounds = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of Object.keys(CYCLES)) {
      const args = [program, name, server.url];
      const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
      (rounds[name] ??= []).push(JSON.parse(printed) as Spent);
    }
  }
  return inTable(rounds);
}

const tables = {
  'In Redis, µs': await inRedis(),
  'In the client, µs': await inClient(),
  'In the client, the first 250 ms of a process, 16 at a time, µs': inFreshProcesses(),
};
await server.stop();
process.stdout.write(JSON.stringify(tables));

// Run by tools/cycle-cost.mjs: what the cycle of a free lock costs in Redis, script by script, and in the client, by
// whose code runs, beside SET NX PX and a script that compares and deletes. Prints a JSON object of tables, in µs.
import { randomUUID } from 'node:crypto';
import { Session, type Profiler } from 'node:inspector';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from '../../lib/index.js';
import { exclusive } from '../../lib/locks/native-scripts.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { median } from './median.js';

type Table = Record<string, Record<string, number>>;
type Step = (client: Redis, nth: number) => Promise<unknown>;

const ROUNDS = 7;
const CALLS = 4_000;
const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

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

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}

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
  const owner = [id.slice(0, 32), id.slice(32)];
  steps['release-free.lua'] = await script(exclusive.releaseFree.source, given, owner);

  const found: Record<string, { script: number[]; all: number[] }> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, step] of Object.entries(steps)) {
      await client.flushall();
      for (let nth = 0; nth < CALLS; nth += 1) {
        if (name.includes('delete')) await client.set(`nrl:{${nth}}`, id);
        if (name.includes('release')) await client.set(`nrl:{${nth}}`, `${owner[0]}/${owner[1]}`);
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

/** Whose code a frame is. */
function owner({ functionName, url }: Profiler.ProfileNode['callFrame']): string {
  if (functionName === '(idle)') return '';
  if (functionName === '(garbage collector)') return 'collecting garbage';
  if (functionName === '(program)') return 'system calls and V8';
  if (url.includes('/lib/')) return 'lib';
  if (url.includes('redis-parser') || url.includes('ioredis')) return 'ioredis';
  if (url.startsWith('node:internal/process') || url.includes('async_hooks'))
    return 'promises and ticks of Node.js';
  if (url.startsWith('node:')) return 'sockets and streams of Node.js';
  return 'others';
}

/** Runs a cycle again and again, and says how long each owner's code ran in one, in µs. */
async function profiled(session: Session, cycle: Cycle): Promise<Record<string, number>> {
  const post = <Result>(method: string, params = {}): Promise<Result> =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, result) =>
        error ? reject(error) : resolve(result as Result),
      );
    });
  await post('Profiler.start');
  const began = process.cpuUsage();
  for (let nth = 0; nth < CALLS; nth += 1) await cycle();
  const { user, system } = process.cpuUsage(began);
  const { profile } = await post<Profiler.StopReturnType>('Profiler.stop');
  const owners = new Map(profile.nodes.map(({ id, callFrame }) => [id, owner(callFrame)]));
  const times: Record<string, number> = { 'processor time': (user + system) / CALLS };
  for (const [nth, id] of profile.samples!.entries()) {
    const whose = owners.get(id)!;
    if (whose) times[whose] = (times[whose] ?? 0) + profile.timeDeltas![nth]! / CALLS;
  }
  return times;
}

type Cycle = () => Promise<unknown>;

async function inClient(): Promise<Table> {
  const client = new Redis(server.url);
  const sha = (await client.script('LOAD', COMPARE_AND_DELETE)) as string;
  const root = { module: class Root {}, imports: [RedisLockModule.forRoot({ redis: server.url })] };
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  const locks = app.get(LockService);
  let nth = 0;
  const cycles: Record<string, Cycle> = {
    raw: async () => {
      const [key, id] = [`raw:${(nth += 1)}`, randomUUID()];
      await client.set(key, id, 'PX', 30_000, 'NX');
      await client.evalsha(sha, 1, key, id);
    },
    'nest-redis-lock': async () => {
      const lease = await locks.acquire(`k:${(nth += 1)}`);
      await lease.release();
    },
  };
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 100 });
  const found: Record<string, Record<string, number[]>> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, cycle] of Object.entries(cycles)) {
      const times = await profiled(session, cycle);
      await pause(50); // what the cycles left behind is over
      if (round === 0) continue; // code is compiled
      for (const [whose, time] of Object.entries(times)) {
        ((found[whose] ??= {})[name] ??= []).push(time);
      }
    }
  }
  session.disconnect();
  client.disconnect();
  await app.close();
  return Object.fromEntries(
    Object.entries(found).map(([whose, by]) => [
      whose,
      Object.fromEntries(Object.entries(by).map(([name, times]) => [name, rounded(median(times))])),
    ]),
  );
}

const redis = await inRedis();
const inProcess = await inClient();
await server.stop();
process.stdout.write(JSON.stringify({ 'In Redis, µs': redis, 'In the client, µs': inProcess }));

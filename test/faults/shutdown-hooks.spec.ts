import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ListeningReplicaOptions } from '../support/listening-replica.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { Replica } from '../support/replica.js';
import { until } from '../support/until.js';

const WARNING =
  'Nothing in this process listens to SIGTERM: its locks outlive it for up to 30000 ms (option "ttl"), and others wait for them. Call app.enableShutdownHooks() in main.ts.';
const production = { NODE_ENV: 'production' };
const cases: readonly Case[] = [
  ['an HTTP application that hears no signal', 'silent', production, true],
  ['one that enables its shutdown hooks, though after it listens', 'hooks', production, false],
  ['one that hears another signal by itself', 'own', production, false],
  ['one in a test', 'silent', { NODE_ENV: 'test' }, false],
  ['a script', 'script', production, false],
];

/** What each logged until all was said. */
const logs = new Map<string, string[]>();
let folder: string;
let redis: RedisProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shutdown-hooks-'));
  redis = await RedisProcess.start();
  await Promise.all(cases.map(listenTo));
}, 300_000);
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

describe('the warning that nobody hears SIGTERM', () => {
  it.each(cases)('%s', (name, _kind, _env, warned) => {
    expect(logs.get(name)).toEqual(warned ? [WARNING, 'past'] : ['past']);
  });
});

/** Runs one until all was said. */
async function listenTo([name, kind, env]: Case, nth: number): Promise<void> {
  const log = join(folder, String(nth));
  const replica = await Replica.start('listening-replica', { redis: redis.url, kind, log }, env);
  const lines = (): string[] => {
    try {
      return readFileSync(log, 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  };
  await until(`${name} has said all`, () => lines().includes('past'), 60_000);
  logs.set(name, lines());
  await replica.kill();
}

type Case = [
  name: string,
  kind: ListeningReplicaOptions['kind'],
  env: NodeJS.ProcessEnv,
  warned: boolean,
];

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { COMMANDS, OPTIONS } from '../../lib/watch/cli/arguments.js';
import type { TestingModule } from '@nestjs/testing';
import { LockService } from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import { command, endCommands, HOST } from '../support/command.js';
import { application } from '../support/lock-application.js';
import { until } from '../support/until.js';
import { textOf } from './pages.js';

const page = textOf('docs/command-line.md');
/** What the page shows: a command, and what it prints. */
const shown = [...page.matchAll(/^```console\n\$ npx nest-redis-lock (.*)\n([^]*?)^```$/gm)].map(
  ([, words, output]) => ({ words: words!, output: output! }),
);

let redis: RedisProcess;
let admin: Redis;
let app: TestingModule;
let locks: LockService;
beforeAll(async () => {
  redis = await RedisProcess.start();
  admin = new Redis(redis.url);
  app = await application(redis.url);
  locks = app.get(LockService);
  await occupy();
});
afterAll(async () => {
  await endCommands();
  await app.close();
  admin.disconnect();
  await redis.stop();
});

describe('the page of the command line', () => {
  it.each(shown)('shows what `nest-redis-lock $words` prints', async ({ words, output }) => {
    const list = words.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
    const { stdout, stderr } = await command(list, { REDIS_URL: redis.url });
    expect({ stderr, gist: gist(stdout) }).toEqual({ stderr: '', gist: gist(output) });
  });

  it('has each command and each option', () => {
    expect(shown.map(({ words }) => words.split(' ')[0])).toEqual(
      expect.arrayContaining(['list', 'inspect', 'release', 'doctor']),
    );
    const names = Object.keys(OPTIONS).filter((name) => !['help', 'version'].includes(name));
    expect(names.filter((name) => !page.includes(`--${name}`))).toEqual([]);
    expect(Object.keys(COMMANDS).filter((name) => !page.includes(`\n## ${name}\n`))).toEqual([]);
  });
});

/** Without what differs from run to run: the host, numbers and times, and how wide they make a column. */
function gist(output: string): string[] {
  /** What doctor says of how quick things are: this machine may be busy. */
  const busy =
    /^(?:ok|warning) (?:round trip|scripts) .*\n(?: (?:Run the|Look for|SLOWLOG).*\n)?/gm;
  return output
    .replaceAll(HOST, 'web-1')
    .replaceAll(/web-1 pid \d+/g, 'web-1 pid #')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'WHEN')
    .replaceAll(/[\d.]+ (?:ms|s|min)(?: \d+ s)?\b/g, 'TIME')
    .replaceAll(/\d+(\.\d+)*/g, '#')
    .replaceAll(/ +/g, ' ')
    .replaceAll(busy, '')
    .replaceAll(/ (problem|warning)s/g, ' $1')
    .split('\n');
}

/** An account that one more waits for, prices with two readers, a report, and what is no lock. */
async function occupy(): Promise<void> {
  await locks.acquire('account:42');
  await locks.acquire('prices', { mode: 'shared' });
  await locks.acquire('prices', { mode: 'shared' });
  await locks.semaphore('report', { permits: 3 }).acquire();
  await admin.hset('lock:legacy', 'field', 1);
  void locks.acquire('account:42', { wait: Infinity }).catch(() => {}); // until the end of this file
  await until('it waits', async () => (await locks.inspect('account:42')).waiting === 1);
}

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule, type RedisLockOptions } from '../../lib/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { until } from '../support/until.js';

const SECRET = /us3r|pl4ntedw0rd/;
const credentials = { username: 'us3r', password: 'pl4ntedw0rd' };
const user = ['--user', 'us3r', 'on', '>pl4ntedw0rd', '~*', '&*', '+@all'];

afterEach(async () => {
  await closeAll();
  Logger.overrideLogger(false);
});

const source = ({ port }: { port: number }) => ({ host: '127.0.0.1', port, ...credentials });

describe('an outage is logged once, and so is its end, with host and port and nobody’s password', () => {
  it.each<[string, () => Promise<Loss>]>([
    [
      'of one Redis',
      async () => {
        const redis = await start();
        return { options: { redis: source(redis) }, victim: redis };
      },
    ],
    [
      'of one server of a quorum',
      async () => {
        const servers = await Promise.all([start(), start(), start()]);
        return { options: { nodes: servers.map(source) }, victim: servers[1]! };
      },
    ],
    [
      'of the primary behind Sentinels',
      async () => {
        const few = { replicas: 1, sentinels: 1 }; // too few for a failover
        const group = await SentinelProcess.start({ ...few, args: user });
        closing.push(() => group.stop());
        const [primary] = group.servers as [RedisProcess];
        return {
          options: { redis: { ...group.source, ...credentials } },
          victim: primary,
          server: `Sentinel "${group.name}" (127.0.0.1:${primary.port})`,
        };
      },
    ],
    [
      'of one node of a Cluster',
      async () => {
        const cluster = await ClusterProcess.start({ args: () => user });
        closing.push(() => cluster.stop());
        const redis = { cluster: cluster.seeds, ...credentials };
        return { options: { redis }, victim: cluster.primaries[2]! };
      },
    ],
  ])('%s', async (_, made) => {
    const { options, victim, server = `127.0.0.1:${victim.port}/0` } = await made();
    const locks = await locksOn(options);
    const lines = logged();
    const told: object[] = [];
    locks.events.on('disconnected', (event) => told.push(event));
    locks.events.on('connected', (event) => told.push(event));
    await victim.kill();
    await until('the loss is logged', () => lines.length > 0);
    await until('it is tried in vain', async () => {
      const { problems } = await locks.health();
      return problems.some((problem) => problem.includes('ECONNREFUSED'));
    });
    await victim.run();
    await until('the end is logged', () => lines.length > 1);
    await until('all is well', async () => (await locks.health({ timeout: '1s' })).status === 'up');
    expect(lines).toEqual(outageOf(server));
    const { cause } = lines[0]![2] as { cause?: string };
    const about = { server, topology: (await locks.health()).topology, module: undefined };
    expect(told).toEqual([
      { ...about, cause },
      { ...about, outage: expect.any(Number) },
    ]);
    expect(JSON.stringify([lines, told])).not.toMatch(SECRET);
  });
});

it('a node of a Cluster that is not waited for any more is said to be so, once', async () => {
  const cluster = await ClusterProcess.start({ replicas: 3 });
  closing.push(() => cluster.stop());
  const locks = await locksOn({ redis: { cluster: cluster.seeds } });
  const lines = logged();
  const told: string[] = [];
  locks.events.on('disconnected', (event) => told.push(`disconnected ${event.server}`));
  locks.events.on('connected', (event) => told.push(`connected ${event.server}`));
  locks.events.on('replaced', (event) => told.push(`replaced ${event.server}`));
  const [victim] = cluster.primaries;
  await victim!.kill();
  await until('the loss is logged', () => lines.length > 0);
  const replica = new Redis(cluster.replicas[0]!.url);
  await replica.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
  replica.disconnect();
  await until('all is well', async () => (await locks.health({ timeout: '1s' })).status === 'up');
  await until('the end is logged', () => lines.length > 1);
  const server = `127.0.0.1:${victim!.port}/0`;
  expect(lines).toEqual([
    outageOf(server)[0],
    [
      'log',
      `Redis at ${server} has no slots of the Cluster any more: other nodes have its locks.`,
      { event: 'replaced', server },
    ],
  ]);
  expect(told).toEqual([`disconnected ${server}`, `replaced ${server}`]);
});

it('the JSON logger of Nest keeps the fields', async () => {
  const redis = await start();
  await locksOn({ redis: source(redis) });
  const written: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    }),
  );
  closing.push(() => spies.forEach((spy) => spy.mockRestore()));
  Logger.overrideLogger(new ConsoleLogger({ json: true, colors: false }));
  const admin = new Redis(redis.url);
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  admin.disconnect();
  await until('the end is logged', () => written.some((line) => line.includes('connected again')));
  spies.forEach((spy) => spy.mockRestore());
  const text = written.join('');
  for (const line of text.trim().split('\n')) JSON.parse(line);
  expect(text).toContain('"event":"disconnected"');
  expect(text).toContain(`"server":"127.0.0.1:${redis.port}/0"`);
  expect(text).not.toMatch(SECRET);
});

it('a right to channels that is taken away is logged once, with what helps', async () => {
  const redis = await start();
  const admin = controlOf(redis.url);
  closing.push(() => admin.disconnect());
  const locks = await locksOn({ redis: source(redis) });
  const lines = logged();
  const refused = (): unknown[] => lines.filter(([, text]) => text.startsWith('The inbox'));
  const attempts = async (): Promise<number> =>
    Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
  await admin.call('ACL', 'SETUSER', 'us3r', 'resetchannels');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'); // Redis 6.2.5 leaves who has subscribed
  await until('it is said', () => refused().length > 0);
  const before = await attempts();
  await until('it tried again', async () => (await attempts()) > before + 2);
  await admin.call('ACL', 'SETUSER', 'us3r', 'allchannels');
  await until('it is heard', async () => (await locks.health()).inbox === 'heard');
  expect(refused()).toEqual([
    [
      'error',
      'The inbox of this process is refused: the Redis user lacks a right to a channel (NOPERM); see "Redis rights" in docs/operations.md. Its callers are not told of their turn, and find it by asking, up to a second late.',
      { event: 'unheard' },
    ],
  ]);
});

/** What is logged of outages, as a logger of the application gets it. */
function logged(): [level: string, text: string, fields: object][] {
  const lines: [string, string, object][] = [];
  const at = (level: string) => (text: unknown, fields: unknown) => {
    if (/not connected any more|connected again|has no slots|inbox/.test(String(text))) {
      lines.push([level, String(text), fields as object]);
    }
  };
  Logger.overrideLogger({ log: at('log'), warn: at('warn'), error: at('error') });
  return lines;
}

async function locksOn(options: RedisLockOptions): Promise<LockService> {
  const imports = [RedisLockModule.forRoot({ wait: 0, shutdownGrace: 0, ...options })];
  const module = await Test.createTestingModule({ imports })
    .setLogger(false as never)
    .compile();
  await module.init();
  closing.push(() => module.close());
  return module.get(LockService);
}

async function start(): Promise<RedisProcess> {
  const redis = await RedisProcess.start({ args: user });
  closing.push(() => redis.stop());
  return redis;
}

/** The two lines of one outage of a server. */
function outageOf(server: string): unknown[] {
  const escaped = server.replaceAll(/[()]/g, '\\$&');
  const lost = new RegExp(
    `^Redis at ${escaped} is not connected any more( \\([A-Z]+\\))?; reconnecting\\. Locks that are held last for the rest of their leases\\.$`,
  );
  const back = new RegExp(`^Redis at ${escaped} is connected again after \\d+ m?s\\.$`);
  return [
    [
      'warn',
      expect.stringMatching(lost),
      expect.objectContaining({ event: 'disconnected', server }),
    ],
    [
      'log',
      expect.stringMatching(back),
      { event: 'connected', server, outage: expect.any(Number) },
    ],
  ];
}

interface Loss {
  readonly options: RedisLockOptions;
  readonly victim: RedisProcess;
  /** What the log calls it, if not its host, port and database. */
  readonly server?: string;
}

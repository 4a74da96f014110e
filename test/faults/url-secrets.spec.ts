import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type DynamicModule, Logger } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Cluster, Redis } from 'ioredis';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  LockError,
  LockOptionsError,
  LockService,
  RedisLockModule,
  type RedisLockOptions,
} from '../../lib/index.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { freePort } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { compiledWorkers } from '../support/compiled-workers.js';

/** Each part of what is secret here: a URL may be cut anywhere. */
const SECRET = /us3r|pl4nt|w0rd|s3cr/i;

it.each<[string, (redis: string) => DynamicModule]>([
  ['forRoot', (redis) => RedisLockModule.forRoot({ redis, lazyConnect: true })],
  [
    'forRootAsync with a factory',
    (redis) => RedisLockModule.forRootAsync({ useFactory: () => ({ redis, lazyConnect: true }) }),
  ],
  [
    'forRootAsync with a class',
    (redis) =>
      RedisLockModule.forRootAsync({
        useClass: class {
          createRedisLockOptions(): RedisLockOptions {
            return { redis, lazyConnect: true };
          }
        },
      }),
  ],
])(
  'an application that is inspected shows no password of the options that %s has',
  async (_, to) => {
    const module = to('redis://us3r:pl4ntedw0rd@localhost');
    const app = await Test.createTestingModule({ imports: [module] }).compile();
    await app.init();
    const modules = [...app.get(ModulesContainer).values()]; // of the whole application the text would be too long
    const ours = modules.find(({ metatype }) => metatype === RedisLockModule)!;
    const provided = [...ours.providers.values()].map(
      ({ instance }) => instance as object | undefined,
    );
    const ofNest = /^(?:Module|Discovery|Application|Lazy)/; // they show all that Nest has
    const shown = provided.filter((one) => !ofNest.test(String(one?.constructor.name)));
    expect(shown.some((instance) => instance instanceof LockService)).toBe(true);
    for (const instance of shown) expect(SECRET.test(inspect(instance, { depth: 12 }))).toBe(false);
    await app.close();
  },
);

/** What wrong URLs there are; each is given to every option that takes one. */
const WRONG = [
  'redis://us3r:pl4ntedw0rd@host:undefined',
  'redis://us3r:pl4nt#edw0rd@host',
  'redis://us3r:1#edw0rd@host:1',
  'redis://us3r?pl4ntedw0rd@host',
  'redis://us3r:1?pl4ntedw0rd@host',
  'redis://us3r:1/pl4ntedw0rd@host',
  'redis://us3r:pl4nt/edw0rd@host',
  'redis://us3r:pl4ntedw0rd%@host',
  'redis://us3r:pl4nt%zzedw0rd@host',
  'redis://us3r%3Apl4ntedw0rd%40host:6379',
  'redis://us3r:pl4ntedw0rd@ho st',
  'redis://us3r:pl4ntedw0rd@host:99999',
  'redis://us3r:pl4ntedw0rd@host/pl4nted',
  'redis://us3r:pl4ntedw0rd@',
  'http://us3r:pl4ntedw0rd@host',
  'rediss://us3r:pl4ntedw0rd@host:port',
] as const;
const WITHOUT_SCHEME = ['us3r:pl4ntedw0rd@host:1', '//us3r:pl4ntedw0rd@host', 'us3r pl4nted'];
const GOOD = 'redis://us3r:pl4ntedw0rd@127.0.0.1:1';

const places: readonly (readonly [string, (url: string) => RedisLockOptions])[] = [
  ['redis', (url) => ({ redis: url })],
  ['nodes', (url) => ({ nodes: [GOOD, url, GOOD] })],
  ['cluster', (url) => ({ redis: { cluster: [url] } })],
];

/** A URL, right or wrong, where none belongs. */
const misplaced: readonly (readonly [string, () => unknown])[] = [
  ['a URL as host', () => ({ redis: { host: GOOD } })],
  ['user and password in the host', () => ({ redis: { host: 'us3r:pl4ntedw0rd@host' } })],
  ['a URL as path', () => ({ redis: { path: GOOD } })],
  ['a URL as port', () => ({ redis: { port: GOOD } })],
  ['a password as port', () => ({ redis: { port: 'pl4ntedw0rd' } })],
  ['a password as db', () => ({ redis: { db: 'pl4ntedw0rd' } })],
  ['option url', () => ({ redis: { url: GOOD } })],
  ['a list', () => ({ redis: [GOOD] })],
  ['a URL object', () => ({ redis: new URL(GOOD) })],
  ['a URL object among nodes', () => ({ nodes: [GOOD, new URL(GOOD)] })],
  ['nodes that are one text', () => ({ nodes: GOOD })],
  ['a cluster that is one text', () => ({ redis: { cluster: GOOD } })],
  ['a URL as a host of a cluster', () => ({ redis: { cluster: [{ host: GOOD }] } })],
  ['a URL as a Sentinel', () => ({ redis: { sentinels: [GOOD], name: 'locks' } })],
  ['a URL as host of a Sentinel', () => ({ redis: { sentinels: [{ host: GOOD }], name: 'a' } })],
  ['a URL as name', () => ({ redis: { sentinels: [{ host: 'a' }], name: GOOD } })],
  ['a URL in natMap', () => ({ redis: { cluster: ['a:1'], natMap: { a: { host: GOOD } } } })],
  ['a client with a URL as host', () => ({ redis: client({ host: GOOD }) })],
  ['a client of a wrong host', () => ({ redis: client({ host: 'us3r:pl4ntedw0rd@host' }) })],
  [
    'a client of a Cluster',
    () => ({ redis: new Cluster([{ host: GOOD }], { lazyConnect: true }) }),
  ],
  ['options that are a URL', () => GOOD],
  ['a URL as an option', () => ({ redis: GOOD, url: GOOD })],
];

function client(options: { host: string }): Redis {
  return new Redis({ ...options, lazyConnect: true });
}

const forRoot = (options: unknown): DynamicModule =>
  RedisLockModule.forRoot(options as RedisLockOptions);
const forRootAsync = (options: unknown): DynamicModule =>
  RedisLockModule.forRootAsync({ useFactory: () => options as RedisLockOptions });

async function start(module: () => DynamicModule): Promise<LockService> {
  const built = await Test.createTestingModule({ imports: [module()] }).compile();
  await built.init();
  closing.push(() => built.close());
  return built.get(LockService);
}

const logged: string[] = [];
beforeAll(() => {
  Logger.overrideLogger(false);
  for (const stream of [process.stdout, process.stderr]) {
    jest.spyOn(stream, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
  }
  for (const method of ['log', 'warn', 'error'] as const) {
    jest.spyOn(console, method).mockImplementation((...words) => void logged.push(inspect(words)));
  }
});
afterAll(async () => {
  await closeAll();
  jest.restoreAllMocks();
});

async function refusalsOf(options: unknown): Promise<unknown[]> {
  let thrown: unknown;
  try {
    forRoot(options);
  } catch (error) {
    thrown = error;
  }
  const lazy = typeof options === 'object' ? { ...options, lazyConnect: true } : options;
  const late = [options, lazy].map((each) =>
    start(() => forRootAsync(each)).catch((error: unknown) => error),
  );
  return [thrown, ...(await Promise.all(late))];
}

describe('a URL that is wrong is refused at start-up, and nothing of it is told', () => {
  it.each(places)('in %s', async (name, options) => {
    const urls = name === 'cluster' ? WRONG : [...WRONG, ...WITHOUT_SCHEME];
    for (const url of urls) {
      for (const error of await refusalsOf(options(url))) {
        expect([url, error]).toEqual([url, expect.any(LockOptionsError)]);
        expect((error as Error).message).toContain(`"${name}"`);
        expectNoSecret(error);
      }
    }
  });

  it.each(misplaced)('%s', async (_, options) => {
    for (const error of await refusalsOf(options())) {
      expect(error).toBeInstanceOf(LockOptionsError);
      expectNoSecret(error);
    }
  });
});

describe('a URL that is right is read as ioredis reads it', () => {
  const urls = [
    'redis://h',
    'redis://us3r:p%40%25%2F%23@h:1/2',
    'redis://:p@ss@h',
    'redis://us3r@h:1',
    'redis://[::1]:7/3',
    'rediss://h:1?family=6&db=4',
    'redis://',
  ];
  it.each(urls)('%s', (url) => {
    const theirs = new Redis(url, { lazyConnect: true }).options;
    const { redis } = optionsOf(url);
    const ours = new Redis({ ...redis, lazyConnect: true }).options;
    const { host, port, db, family, username, password } = theirs;
    expect(ours).toMatchObject({ host, port, db, family });
    expect([ours.username || null, ours.password || null]).toEqual([
      username || null,
      password || null,
    ]);
    expect(ours.tls !== undefined).toBe(theirs.tls !== undefined);
  });
});

it('of a URL that is right, errors, log lines and what can be looked at tell host, port and database alone', async () => {
  const port = await freePort();
  const url = `redis://us3r:pl4ntedw0rd@127.0.0.1:${port}/2`;
  const unreachable: RedisLockOptions[] = [
    { redis: url },
    { redis: { host: '127.0.0.1', port, db: 2, username: 'us3r', password: 'pl4ntedw0rd' } },
    { redis: new Redis(url, { lazyConnect: true }) },
    { nodes: [url, url, url] },
    { redis: { cluster: [url] } },
    { redis: new Cluster([url], { lazyConnect: true }) },
    {
      redis: {
        sentinels: [{ host: '127.0.0.1', port }],
        name: 'locks',
        password: 'pl4ntedw0rd',
        sentinelPassword: 's3cret',
      },
    },
  ];
  await Promise.all(
    unreachable.map(async (options) => {
      const refused = start(() => forRoot(options)).catch((why: unknown) => why);
      const lazy = await start(() => forRoot({ ...options, lazyConnect: true }));
      expect(textOf(lazy).join('\n')).not.toMatch(SECRET);
      const calls = [
        lazy.acquire('k'),
        lazy.inspect('k'),
        lazy.list(),
        lazy.forceRelease('k'),
        lazy.withLock('k', () => 1),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expectNoSecret(call.status === 'rejected' && call.reason);
      }
      expectNoSecret(await refused);
    }),
  );
});

it('nothing of all that was logged', () => {
  expect(logged.join('\n')).not.toMatch(SECRET);
});

describe('a process that dies of it', () => {
  /** What such a process writes. */
  async function dying(options: unknown): Promise<string> {
    const main = join(compiledWorkers(), 'test/support/crash-main.js');
    const child = spawn(process.execPath, [main], {
      env: { ...process.env, CRASH_OPTIONS: JSON.stringify(options) },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    }
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).not.toBe(0);
    return said;
  }

  it('tells nothing of the URL, whatever it dies of', async () => {
    const deaths = [
      { redis: WRONG[0] },
      { redis: WRONG[0], late: true },
      { redis: WRONG[0], late: true, lazyConnect: true },
      { nodes: [GOOD, WRONG[1]], late: true },
      { redis: GOOD },
      { redis: GOOD, lazyConnect: true },
    ];
    for (const said of await Promise.all(deaths.map(dying))) {
      expect(said).toMatch(/Lock(Options|Store)Error/);
      expect(said).not.toMatch(SECRET);
    }
  });
});

function optionsOf(url: string): { redis: object } {
  return moduleSettings({ redis: url }) as { redis: object };
}

function expectNoSecret(error: unknown): void {
  expect(error).toBeInstanceOf(LockError);
  for (const text of textOf(error)) expect(text).not.toMatch(SECRET);
}

/** All text that can be had from a value: own and inherited properties, hidden ones too, at any depth. */
function textOf(value: unknown, seen = new Set<unknown>()): string[] {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
    return [String(value)];
  }
  if (seen.has(value)) return [];
  seen.add(value);
  const found = [inspect(value, { depth: 20, showHidden: true, getters: true })];
  for (let holder: unknown = value; holder && holder !== Object.prototype;) {
    for (const name of Reflect.ownKeys(holder as object)) {
      found.push(String(name));
      let part: unknown;
      try {
        part = (value as Record<PropertyKey, unknown>)[name];
      } catch {
        continue;
      }
      if (typeof part !== 'function') found.push(...textOf(part, seen));
    }
    holder = Object.getPrototypeOf(holder);
  }
  return found;
}

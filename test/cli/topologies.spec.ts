import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { asked, Command, command, endCommands } from '../support/command.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await endCommands();
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** The states of all steps with the program: where `words` and `env` say, a process holds `keys`. */
async function sees(
  keys: readonly string[],
  holder: LockProcess,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  closing.push(() => holder.close());
  const leases = await Promise.all(keys.map((key) => holder.acquire(key)));
  const { answer } = await asked(['list', ...words], env);
  expect(answer.locks.map(({ key }: { key: string }) => key)).toEqual(keys.toSorted());
  const [key] = keys;
  expect(await asked(['inspect', key!, ...words], env)).toMatchObject({
    code: 0,
    answer: { state: 'held', holder: { pid: process.pid } },
  });
  expect(await asked(['release', key!, '--yes', ...words], env)).toMatchObject({ code: 0 });
  await until('the holder is told', () => leases[0]!.signal.aborted);
  const checked = await asked(['doctor', ...words], env);
  expect(problemsOf(checked.answer)).toEqual([]);
  expect(checked.code).toBe(0);
}

function problemsOf({ findings }: { findings: { status: string }[] }): unknown[] {
  return findings.filter(({ status }) => status === 'problem');
}

describe('behind Sentinels', () => {
  it('finds the primary and its locks, also after a failover', async () => {
    const group = await SentinelProcess.start();
    closing.push(() => group.stop());
    const { sentinels, name } = group.source;
    const words = [
      '--sentinel',
      sentinels.map(({ host, port }) => `${host}:${port}`).join(','),
      '--master',
      name,
    ];
    await sees(['a', 'b'], new LockProcess({ redis: group.source }), words);
    await group.failOver();
    await until('it sees locks at the new primary', async () => {
      return (await asked(['list', ...words])).code === 0;
    });
  });
});

describe('in a Cluster', () => {
  let cluster: ClusterProcess;
  beforeAll(async () => {
    cluster = await ClusterProcess.start();
  });
  afterAll(() => cluster.stop());

  it('finds the locks of all nodes by one of them', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const seed = `127.0.0.1:${cluster.primaries[1]!.port}`;
    const redis = { cluster: cluster.seeds };
    await sees(keys, new LockProcess({ redis }), ['--cluster', `127.0.0.1:1,${seed}`]);
    const { answer } = await asked(['doctor', '--cluster', seed]);
    const servers = new Set(answer.findings.flatMap((each: { servers: string[] }) => each.servers));
    expect(servers.size).toBe(3);
  });

  it('says what to give where one node is given for a Redis, and the other way round', async () => {
    const [{ url }] = cluster.primaries as [RedisProcess];
    for (const name of ['list', 'doctor']) {
      const { code, stdout, stderr } = await command([name, '--url', url]);
      expect([code, stdout + stderr]).toEqual([
        1,
        expect.stringContaining('this is one node of a Cluster: give it by --cluster.'),
      ]);
    }
    const redis = await RedisProcess.start();
    closing.push(() => redis.stop());
    const { stderr } = await command(['list', '--cluster', `127.0.0.1:${redis.port}`]);
    expect(stderr).toContain('give it by --url, not by --cluster.');
  });

  it('is diagnosed also while a node is away', async () => {
    const one = cluster.primaries[2]!;
    await one.kill();
    closing.push(() => one.run());
    const seed = `127.0.0.1:${cluster.primaries[0]!.port}`;
    const { code, answer } = await asked(['doctor', '--timeout=1s', '--cluster', seed]);
    expect(code).toBe(1);
    expect(problemsOf(answer)).toMatchObject([
      {
        check: 'connection',
        servers: [`127.0.0.1:${one.port}`],
        found: expect.stringContaining('ECONNREFUSED'),
      },
    ]);
  });
});

describe('over TLS', () => {
  let certificate: Certificate;
  let redis: RedisProcess;
  let port: number;
  beforeAll(async () => {
    certificate = new Certificate('localhost');
    const { file, key } = certificate;
    port = await freePort();
    const args = `--tls-port ${port} --tls-cert-file ${file} --tls-key-file ${key} --tls-ca-cert-file ${file} --tls-auth-clients optional`;
    redis = await RedisProcess.start({ args: args.split(' ') });
  });
  afterAll(async () => {
    await redis.stop();
    certificate.remove();
  });

  it('trusts the authority that --ca names, also with a certificate of its own', async () => {
    const { file, key, authority } = certificate;
    const holder = new LockProcess({ redis: { host: 'localhost', port, tls: { ca: authority } } });
    await sees(['a'], holder, ['--ca', file], { REDIS_URL: `rediss://localhost:${port}` });
    const client = ['--ca', file, '--cert', file, '--key', key];
    const named = ['--url', `redis://127.0.0.1:${port}`, '--servername', 'localhost'];
    expect(await command(['list', ...client, ...named])).toMatchObject({ code: 0 });
  });

  it.each([
    ['no authority is given', `rediss://localhost`, [], 'give the file of its authority by --ca.'],
    ['the name is another', `rediss://127.0.0.1`, ['--ca'], 'give the name in it by --servername.'],
    ['TLS is left out', `redis://localhost`, [], 'it speaks TLS: use rediss://, or --tls.'],
  ])('says what to give where %s', async (_, url, options, says) => {
    const words = options.flatMap((option) => [option, certificate.file]);
    const { code, stderr } = await command(['list', '--url', `${url}:${port}`, ...words]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(says) });
  });

  it('says what to leave out where the server has none', async () => {
    const { stderr } = await command(['list', '--tls', '--timeout=2s', '--url', redis.url]);
    expect(stderr).toContain('it speaks without TLS: use redis://, or leave out --tls and --ca.');
  });
});

describe('as a user of an ACL', () => {
  let redis: RedisProcess;
  let admin: Redis;
  let env: NodeJS.ProcessEnv;
  const RIGHTS =
    '~lock:* ~{lock:* resetchannels &lock:inbox:* -@all +evalsha +eval +get +mget +set +del +exists +type +time +pttl +pexpire +zadd +zrem +zrange +zrangebyscore +zrevrangebyscore +zremrangebyscore +zscore +zcard +zcount +zrank +renamenx +publish +subscribe +scan +info'.split(
      ' ',
    );
  const grant = (rights: readonly string[]): Promise<unknown> =>
    admin.call('ACL', 'SETUSER', 'locks', 'reset', 'on', '>s3cret', ...rights);

  beforeAll(async () => {
    redis = await RedisProcess.start();
    admin = new Redis(redis.url);
    env = { REDIS_URL: redis.url, REDIS_USERNAME: 'locks', REDIS_PASSWORD: 's3cret' };
  });
  afterAll(async () => {
    admin.disconnect();
    await redis.stop();
  });

  it('needs no more than locks need', async () => {
    await grant(RIGHTS);
    await sees(['a'], new LockProcess({ redis: redis.url }), [], env);
  });

  it('with too few rights is told which, and how to have them', async () => {
    await grant(RIGHTS.filter((right) => !['+zadd', '~{lock:*'].includes(right)));
    const list = await command(['list'], env);
    expect(list).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the Redis user lacks the rights +zadd'),
    });
    const { code, answer } = await asked(['doctor'], env);
    expect(code).toBe(1);
    expect(problemsOf(answer)).toMatchObject([
      {
        check: 'rights',
        remedy: "Grant it: redis-cli ACL SETUSER <user> +zadd '~lock:*' '~{lock:*'",
      },
    ]);
  });

  it('without a channel of its own is told so', async () => {
    await grant(RIGHTS.filter((right) => !right.startsWith('&')));
    const { code, answer } = await asked(['doctor'], env);
    expect([code, problemsOf(answer)]).toMatchObject([
      1,
      [{ check: 'start', found: expect.stringContaining('lacks a right to a channel') }],
    ]);
  });

  it.each([
    ['+info', 'server'],
    ['+scan', 'keys'],
  ])('without %s is diagnosed as far as that goes', async (right, check) => {
    await grant(RIGHTS.filter((each) => each !== right));
    const { code, answer } = await asked(['doctor'], env);
    expect(code).toBe(0);
    expect(answer.findings).toContainEqual(
      expect.objectContaining({ check, status: 'warning', remedy: expect.stringContaining(right) }),
    );
  });

  it('with a wrong password, or none, is told so, and nobody sees it', async () => {
    await grant(RIGHTS);
    const wrong = await command(['list'], { ...env, REDIS_PASSWORD: 'wr0ng' });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('(WRONGPASS)') });
    await admin.call('ACL', 'SETUSER', 'default', '>adm1n');
    const { port } = redis;
    const none = await command(['list'], { REDIS_URL: `redis://127.0.0.1:${port}` });
    expect(none.stderr).toContain('(NOAUTH); set REDIS_PASSWORD, or put it into the URL.');
    expect(wrong.stderr + none.stderr).not.toMatch(/wr0ng|s3cret|adm1n|redis:\/\//);
  });
});

it('an outage is shown in the place of the locks, and they come back', async () => {
  const redis = await RedisProcess.start();
  closing.push(() => redis.stop());
  const watching = new Command(['watch', '--json', '--interval=100ms', '--url', redis.url]);
  await until('it looks', () => watching.stdout.includes('"locks"'));
  await redis.kill();
  await until('it says so', () => watching.stdout.includes('"error"'));
  await redis.run();
  const before = watching.stdout.length;
  await until('it looks again', () => watching.stdout.slice(before).includes('"locks"'));
  watching.child.kill('SIGTERM');
  expect(await watching.ended).toMatchObject({ code: 0, stderr: '' });
});

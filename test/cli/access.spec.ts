import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { closeAll, closing } from '../support/closing.js';
import { askedInProcess, Command, endCommands, inProcess } from '../support/command.js';
import { LockProcess } from '../support/lock-process.js';
import { Quorum } from '../support/quorum.js';
import { until } from '../support/until.js';
import { problemsOf, sees } from './sees.js';

afterEach(async () => {
  await endCommands();
  await closeAll();
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
    const holder = holding({ redis: { host: 'localhost', port, tls: { ca: authority } } });
    await sees(['a'], holder, ['--ca', file], { REDIS_URL: `rediss://localhost:${port}` });
    const client = ['--ca', file, '--cert', file, '--key', key];
    const named = ['--url', `redis://127.0.0.1:${port}`, '--servername', 'localhost'];
    expect(await inProcess(['list', ...client, ...named])).toMatchObject({ code: 0 });
  });

  it.each([
    ['no authority is given', `rediss://localhost`, [], 'give the file of its authority by --ca.'],
    ['the name is another', `rediss://127.0.0.1`, ['--ca'], 'give the name in it by --servername.'],
    ['TLS is left out', `redis://localhost`, [], 'it speaks TLS: use rediss://, or --tls.'],
  ])('says what to give where %s', async (_, url, options, says) => {
    const words = options.flatMap((option) => [option, certificate.file]);
    const { code, stderr } = await inProcess(['list', '--url', `${url}:${port}`, ...words]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(says) });
  });

  it('says what to leave out where the server has none', async () => {
    const { stderr } = await inProcess(['list', '--tls', '--timeout=2s', '--url', redis.url]);
    expect(stderr).toContain('it speaks without TLS: use redis://, or leave out --tls and --ca.');
  });
});

describe('as a user of an ACL', () => {
  let redis: RedisProcess;
  let admin: Redis;
  let env: NodeJS.ProcessEnv;
  const RIGHTS =
    '~lock:* ~{lock:* resetchannels &lock:inbox:* -@all +evalsha +eval +get +mget +set +del +exists +type +time +pttl +pexpire +zadd +zrem +zrange +zrangebyscore +zrevrangebyscore +zremrangebyscore +zscore +zcard +zcount +zrank +renamenx +publish +pubsub +subscribe +scan +info'.split(
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
    await sees(['a'], holding({ redis: redis.url }), [], env);
  });

  it('with too few rights is told which, and how to have them', async () => {
    await grant(RIGHTS.filter((right) => !['+zadd', '~{lock:*'].includes(right)));
    const list = await inProcess(['list'], env);
    expect(list).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the Redis user lacks the rights +zadd'),
    });
    const { code, answer } = await askedInProcess(['doctor'], env);
    expect(code).toBe(1);
    expect(problemsOf(answer)).toMatchObject([
      {
        check: 'rights',
        remedy: "Grant it: redis-cli ACL SETUSER <user> +zadd '~lock:*' '~{lock:*'",
      },
    ]);
  });

  it('with too few rights and an empty prefix is told one pattern, since Redis refuses another beside "~*"', async () => {
    await grant(RIGHTS.filter((right) => !right.startsWith('~')));
    const { answer } = await askedInProcess(['doctor', '--prefix', ''], env);
    const remedy = "Grant it: redis-cli ACL SETUSER <user> '~*'";
    expect(problemsOf(answer)).toMatchObject([{ check: 'rights', remedy }]);
  });

  it('has the user of a URL and the password of the environment, or the other way round', async () => {
    await grant(RIGHTS);
    const { port } = redis;
    const urls = [`redis://locks@127.0.0.1:${port}`, `redis://:s3cret@127.0.0.1:${port}`];
    for (const url of urls) {
      expect(await inProcess(['list', '--url', url], env)).toMatchObject({ code: 0, stderr: '' });
    }
  });

  it('without a channel of its own is told so', async () => {
    await grant(RIGHTS.filter((right) => !right.startsWith('&')));
    const { code, answer } = await askedInProcess(['doctor'], env);
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
    const { code, answer } = await askedInProcess(['doctor'], env);
    expect(code).toBe(0);
    expect(answer.findings).toContainEqual(
      expect.objectContaining({ check, status: 'warning', remedy: expect.stringContaining(right) }),
    );
  });

  it('with a wrong password, or none, is told so, and nobody sees it', async () => {
    await grant(RIGHTS);
    const wrong = await inProcess(['list'], { ...env, REDIS_PASSWORD: 'wr0ng' });
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('(WRONGPASS)') });
    await admin.call('ACL', 'SETUSER', 'default', '>adm1n');
    const { port } = redis;
    const none = await inProcess(['list'], { REDIS_URL: `redis://127.0.0.1:${port}` });
    expect(none.stderr).toContain('(NOAUTH); set REDIS_PASSWORD, or put it into the URL.');
    expect(wrong.stderr + none.stderr).not.toMatch(/wr0ng|s3cret|adm1n|redis:\/\//);
  });
});

describe('on a quorum', () => {
  it('the locks are looked at, and released, server by server', async () => {
    const quorum = await Quorum.of(3);
    closing.push(() => quorum.stop());
    const { urls } = quorum;
    const holder = await quorum.process({ ttl: '9s' });
    const lease = await holder.acquire({ key: 'a' });
    const released: unknown[] = [];
    for (const url of urls) {
      const { answer } = await askedInProcess(['list', '--url', url]);
      expect(answer.locks).toMatchObject([
        { key: 'a', state: 'held', holder: { pid: process.pid } },
      ]);
      const { code } = await askedInProcess(['doctor', '--url', url]);
      expect(code).toBe(0);
    }
    for (const url of urls) {
      released.push(await askedInProcess(['release', 'a', '--yes', '--url', url]));
    }
    expect(released).toEqual(urls.map(() => ({ code: 0, answer: { key: 'a', released: true } })));
    await until('the holder finds out', () => lease.signal.aborted);
  });
});

it('keys are seen that are longer than an application allows by default', async () => {
  const redis = await RedisProcess.start();
  closing.push(() => redis.stop());
  const holder = holding({ redis: redis.url, limits: { keyBytes: 4_000 } });
  const key = 'x'.repeat(4_000);
  const words = ['--url', redis.url];
  await sees([key], holder, words);
  await holder.acquire(key);
  const { answer } = await askedInProcess(['doctor', ...words]);
  const found = answer.findings.filter(({ check }: { check: string }) => check === 'keys');
  expect(found).toMatchObject([{ status: 'ok', found: expect.stringContaining(' 1 of them') }]);
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

function holding(options: RedisLockOptions): LockProcess {
  const holder = new LockProcess(options);
  closing.push(() => holder.close());
  return holder;
}

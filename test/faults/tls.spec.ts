import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let observer: Observer;
let certificate: Certificate;
let port: number;
beforeAll(async () => {
  certificate = new Certificate('localhost');
  const { file, key } = certificate;
  port = await freePort();
  redis = await RedisProcess.start({
    args: `--tls-port ${port} --tls-cert-file ${file} --tls-key-file ${key} --tls-ca-cert-file ${file} --tls-auth-clients no`.split(
      ' ',
    ),
  });
  observer = new Observer(redis.url);
});
afterAll(async () => {
  observer.close();
  await redis.stop();
  certificate.remove();
});

it.each([
  ['is trusted', () => ({ ca: certificate.authority })],
  ['is not trusted', () => ({})],
])(
  'a start that is given up in the middle of TLS handshakes ends no process: the server %s',
  async (_, tls) => {
    for (let round = 0; round < 30; round += 1) {
      const client = new LockProcess({ redis: { host: 'localhost', port, tls: tls() } });
      const opened = client.locks.open().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      await client.close();
      await opened;
    }
    await until('all connections have ended', async () =>
      (await observer.redis.info('clients')).includes('connected_clients:1\r'),
    ); // an error that nobody hears fails this file
  },
);

it.each([
  [
    'of an unknown authority',
    () => ({ host: 'localhost', tls: {} }),
    'failed (DEPTH_ZERO_SELF_SIGNED_CERT): give the authority in "tls": { ca }.',
  ],
  [
    'for another name',
    () => ({ host: '127.0.0.1', tls: { ca: certificate.authority } }),
    'failed (ERR_TLS_CERT_ALTNAME_INVALID): the certificate does not name the host: set "tls": { servername }.',
  ],
])('a certificate %s ends a start at once, with what helps', async (_, redisOf, says) => {
  const client = new LockProcess({ redis: { ...redisOf(), port } });
  const error: unknown = await client.locks.open().catch((reason: unknown) => reason);
  expect((error as Error).message).toContain(says);
  expect((error as Error).message).not.toContain('within'); // not after the time of a start
  expect(error).toMatchObject({ code: 'LOCK_STORE', retryable: false });
  await client.close();
});

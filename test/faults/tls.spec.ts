import { afterAll, beforeAll, it } from '@jest/globals';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { LockClient } from '../support/lock-client.js';
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
      const client = new LockClient({ redis: { host: 'localhost', port, tls: tls() } });
      const opened = client.leases.open().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      await client.close();
      await opened;
    }
    await until('all connections have ended', async () =>
      (await observer.redis.info('clients')).includes('connected_clients:1\r'),
    ); // an error that nobody hears fails this file
  },
);

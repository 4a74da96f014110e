import { Redis } from 'ioredis';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';

export async function redis(...args: string[]): Promise<number> {
  const server = await RedisProcess.start({ args });
  closing.push(() => server.stop());
  return server.port;
}

async function sentinel(): Promise<SentinelProcess> {
  const group = await SentinelProcess.start({ replicas: 1, sentinels: 1 });
  closing.push(() => group.stop());
  return group;
}

/** A Redis that calls itself something else. */
export async function disguised(...info: string[]): Promise<number> {
  const proxy = await FaultProxy.before(await redis());
  closing.push(() => proxy.close());
  const text = ['# Server', ...info, 'redis_mode:standalone', 'role:master'].join('\r\n');
  proxy.fate = ([word]) => (word === 'info' ? `$${text.length}\r\n${text}` : 'pass');
  return proxy.port;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Something that is no Redis. */
export function impostor(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  closing.push(() => sockets.forEach((socket) => socket.destroy()));
  return listening(
    createServer((socket) => {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
      talk(socket);
    }),
  );
}

/** With a password, which nobody may repeat. */
const at = (port: number): RedisLockOptions => ({
  redis: `redis://us3r:pl4ntedw0rd@127.0.0.1:${port}`,
});
export const plainly = (port: number, more: RedisLockOptions = {}): RedisLockOptions => ({
  redis: `redis://127.0.0.1:${port}`,
  ...more,
});

interface Case {
  readonly options: () => Promise<RedisLockOptions>;
  readonly says: RegExp;
  /** The database that the error names. Default: 0. */
  readonly db?: number;
  /** Whether it may be usable later. */
  readonly retryable?: boolean;
}

const disabled = (command: string, more?: RedisLockOptions): Case => ({
  options: async () => plainly(await redis('--rename-command', command, ''), more),
  says: new RegExp(`\\b${command}\\b.*disabled or renamed`),
});

export const cases: Readonly<Record<string, Case>> = {
  'Redis 5.0': {
    options: async () => plainly(await disguised('redis_version:5.0.14')),
    says: /version 5\.0\.14, and locks need 6\.2/,
  },
  'Redis 6.0': {
    options: async () => plainly(await disguised('redis_version:6.0.20')),
    says: /version 6\.0\.20, and locks need 6\.2/,
  },
  'EVAL disabled': disabled('EVAL'),
  'EVALSHA disabled': disabled('EVALSHA'),
  'PUBLISH disabled': disabled('PUBLISH'),
  'SUBSCRIBE disabled': disabled('SUBSCRIBE'),
  'TIME disabled': disabled('TIME'),
  'INFO disabled, which durability needs': {
    options: async () => {
      const proxy = await FaultProxy.before(await redis());
      closing.push(() => proxy.close());
      proxy.fate = ([word]) => (word === 'info' ? "-ERR unknown command 'INFO'" : 'pass');
      return plainly(proxy.port, { durability: 'refuse' });
    },
    says: /needs INFO: .*command INFO: it is disabled or renamed/,
  },
  'WAIT disabled, which replicas need': disabled('WAIT', { replicas: { acks: 1 } }),
  "a Sentinel's port": {
    options: async () => plainly((await sentinel()).source.sentinels[0]!.port),
    says: /this is a Sentinel: give it as \{ sentinels/,
  },
  'a Redis among the Sentinels': {
    options: async () => {
      const sentinels = [{ host: '127.0.0.1', port: await redis() }];
      return { redis: { sentinels, name: 'locks' } };
    },
    says: /what answers there is no Sentinel: correct "sentinels"/,
  },
  'Sentinels that know no such primary': {
    options: async () => {
      const { source } = await sentinel();
      return { redis: { ...source, name: 'others' } };
    },
    says: /the Sentinels know no primary of this name: correct "name"/,
    retryable: true,
  },
  'Sentinels that know no such primary, and are not asked for others': {
    options: async () => {
      const { source } = await sentinel();
      return { redis: { ...source, name: 'others', updateSentinels: false } };
    },
    says: /the Sentinels know no primary of this name: correct "name"/,
    retryable: true,
  },
  'Sentinels that want a password': {
    options: async () => {
      const { source } = await sentinel();
      const admin = new Redis(source.sentinels[0]!.port, '127.0.0.1');
      await admin.call('ACL', 'SETUSER', 'default', '>pl4ntedw0rd');
      admin.disconnect();
      return { redis: source };
    },
    says: /the Sentinels refuse the user or password: set "sentinelPassword"/,
  },
  'no Sentinel': {
    options: async () => {
      const sentinels = [{ host: '127.0.0.1', port: await freePort() }];
      return { redis: { sentinels, name: 'locks' } };
    },
    says: /no Sentinel answers: start one, or correct "sentinels"/,
    retryable: true,
  },
  'a plain Redis as a Cluster': {
    options: async () => ({ redis: { cluster: [`127.0.0.1:${await redis()}`] } }),
    says: /no node of a Cluster.*without "cluster"/,
  },
  'a node of a Cluster as a plain Redis': {
    options: async () => {
      const cluster = await ClusterProcess.start();
      closing.push(() => cluster.stop());
      return plainly(cluster.seeds[0]!.port);
    },
    says: /one node of a Cluster: give \{ cluster/,
  },
  'a database that Redis does not have': {
    options: async () => ({ redis: `redis://127.0.0.1:${await redis('--databases', '4')}/4` }),
    says: /127\.0\.0\.1:\d+\/4 could not be used: Redis has no database of this number: correct "db"/,
    db: 4,
  },
  'a database of a Cluster of one node': {
    options: async () => ({
      redis: `redis://127.0.0.1:${await redis('--cluster-enabled', 'yes')}/1`,
    }),
    says: /(a Cluster has database 0 alone|Redis has no database of this number): correct "db"/, // Valkey 9.0 has several in a Cluster
    db: 1,
  },
  'a replica': {
    options: async () => plainly(await redis('--replicaof', '127.0.0.1', '1')),
    says: /read-only replica \(READONLY\): give its primary/,
    retryable: true,
  },
  'a server that repeats what it is sent': {
    options: async () => at(await impostor((socket) => void socket.pipe(socket))),
    says: /repeats what it is sent: no Redis/,
  },
  'a server that repeats what it is sent, in its own words': {
    options: async () =>
      at(
        await impostor((socket) => {
          socket.on('data', (data) => socket.write(`You said: ${data.toString()}`));
        }),
      ),
    says: /no Redis: "You said: PING"/,
  },
  'an HTTP server': {
    options: async () => at(await listening(createHttpServer())),
    says: /no Redis: "HTTP\/1\.1 400 Bad Request"/,
  },
  garbage: {
    options: async () =>
      at(await impostor((socket) => void socket.write(Buffer.alloc(500, 'a\x00\x1B[31mé')))),
    says: /no Redis: "a\?\?\[31m.{33}"/,
  },
  'a server that says nothing': {
    options: async () => at(await impostor(() => {})),
    says: /accepts connections and says nothing|no answer/,
    retryable: true,
  },
  'a proxy that closes each connection': {
    options: async () => at(await impostor((socket) => socket.end())),
    says: /closes each connection without a word/,
    retryable: true,
  },
  'a server with as many clients as it may have': {
    options: async () => {
      const port = await redis();
      const other = new Redis(port, '127.0.0.1');
      closing.push(() => other.disconnect());
      await other.config('SET', 'maxclients', 1);
      return plainly(port);
    },
    says: /as many clients as it may have \(maxclients\)/,
    retryable: true,
  },
  'a server that speaks TLS': {
    options: async () => {
      const { file, key } = new Certificate('localhost');
      const secrets = { cert: readFileSync(file), key: readFileSync(key) };
      return at(await listening(createTlsServer(secrets)));
    },
    says: /speaks TLS: use rediss/,
  },
  'a server that speaks no TLS': {
    options: async () => ({ redis: `rediss://127.0.0.1:${await redis()}` }),
    says: /without TLS: use redis:/,
  },
};

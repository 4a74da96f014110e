import { afterEach, describe, expect, it } from '@jest/globals';
import { type Redis, Redis as Client } from 'ioredis';
import { type AddressInfo, createServer } from 'node:net';
import { LockShutdownError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { RedisSource } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { RefusingConnector } from './refusing-connector.js';

afterEach(closeAll);
afterEach(() => {
  RefusingConnector.refuses = false;
});

describe('a connection that ioredis has ended for good', () => {
  it('to one Redis is made again, for commands and for the inbox', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const admin = direct(server.port);
    const client = await opened({ port: server.port, Connector: RefusingConnector });
    RefusingConnector.refuse();
    await kill([admin]);
    await until('both have been refused again and again', () => RefusingConnector.refused >= 6);
    RefusingConnector.refuses = false;
    await serves(client, [admin]);
  });

  it('to the nodes of a Cluster is made again, for commands and for the inbox', async () => {
    const cluster = await ClusterProcess.start();
    closing.push(() => cluster.stop());
    const admins = cluster.servers.map(({ port }) => direct(port));
    const client = await opened({ cluster: cluster.seeds, Connector: RefusingConnector });
    RefusingConnector.refuse();
    await kill(admins);
    await until('all have been refused again and again', () => RefusingConnector.refused >= 12);
    RefusingConnector.refuses = false;
    await serves(client, admins);
  });

  it('before the first answer to it, when ioredis 5 calls it ready, is made again', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const proxy = await FaultProxy.before(server.port);
    closing.push(() => proxy.close());
    const client = await opened({ port: proxy.port, Connector: RefusingConnector });
    let asked = 0;
    proxy.fate = () => {
      asked += 1;
      return 'lose';
    };
    proxy.reset();
    await until('both are connected, and ask what nobody answers', () => asked >= 4);
    RefusingConnector.refuse();
    proxy.reset();
    await until('both have been refused', () => RefusingConnector.refused >= 2);
    proxy.heal();
    RefusingConnector.refuses = false;
    await serves(client, [direct(server.port)]);
  });

  it('because its user was locked out for a while is made again', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const admin = direct(server.port);
    const user = (...rules: string[]): Promise<unknown> =>
      admin.call('ACL', 'SETUSER', 'app', ...rules);
    await user('on', '>secret', '~*', '&*', '+@all');
    const client = await opened(server.url.replace('//', '//app:secret@'));
    await user('off');
    await admin.call('CLIENT', 'KILL', 'USER', 'app');
    await expect(client.acquire('k')).rejects.toThrow('not connected');
    await user('on');
    await serves(client, [admin]);
  });

  it('by ourselves stays ended, also in the middle of connecting', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const admin = direct(server.port);
    const client = await opened({ port: server.port, Connector: RefusingConnector });
    RefusingConnector.refuse();
    await kill([admin]);
    await until('both have been refused', () => RefusingConnector.refused >= 2);
    await client.close();
    RefusingConnector.refuses = false;
    const refused = RefusingConnector.refused;
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than the longest pause before an attempt
    expect(RefusingConnector.refused).toBe(refused);
    expect(
      String(await admin.client('LIST'))
        .trim()
        .split('\n'),
    ).toHaveLength(1);
  });

  it('that is still being made ends with its store, and nobody is asked any more what it is', async () => {
    let asked = 0;
    const silent = createServer((socket) => {
      asked += 1;
      socket.on('error', () => {}).resume();
    });
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as AddressInfo;
    const client = new LockProcess({ redis: { host: '127.0.0.1', port } });
    const opening = client.locks.open().catch((error: unknown) => error);
    await until('both connections are made', () => asked >= 2);
    await client.close();
    const error = (await opening) as LockStoreError;
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error.message).not.toContain('within'); // as when nobody ends it, after 5 s
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // longer than the pause between two questions
    expect(asked).toBe(before);
    await new Promise((closed) => silent.close(closed));
  });

  it('is not made for who asks when the store is closed', async () => {
    const server = await RedisProcess.start();
    closing.push(() => server.stop());
    const admin = direct(server.port);
    const connections = async (): Promise<string> =>
      /total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]!;
    const before = await connections();
    const lazy = new LockProcess({ redis: server.url });
    await lazy.close();
    const { locks } = lazy;
    await expect(locks.inspect('k', 0)).rejects.toThrow(LockShutdownError);
    await expect(locks.force('k')).rejects.toThrow(LockShutdownError);
    await expect(lazy.locks.optimistic('k')).rejects.toThrow(LockShutdownError);
    expect(await connections()).toBe(before);
  });
});

describe('a start', () => {
  it.each(['subscribe', 'publish'])(
    'goes on where the connection is lost at its %s',
    async (last) => {
      const server = await RedisProcess.start();
      closing.push(() => server.stop());
      const proxy = await FaultProxy.before(server.port);
      closing.push(() => proxy.close());
      let lost = 0;
      proxy.fate = ([word = '']) => {
        if (word !== last || lost > 0) return 'pass';
        lost += 1;
        setImmediate(() => proxy.reset());
        return 'lose';
      };
      const client = await opened({ port: proxy.port });
      expect(lost).toBe(1);
      await serves(client, [direct(server.port)]);
    },
  );
});

function direct(port: number): Redis {
  const redis = new Client(port, '127.0.0.1');
  closing.push(() => redis.disconnect());
  return redis;
}

async function opened(redis: RedisSource): Promise<LockProcess> {
  const client = new LockProcess({ redis, commandTimeout: 1_000, durability: 'ignore' });
  closing.push(() => client.close());
  await client.locks.open();
  return client;
}

async function kill(servers: readonly Redis[]): Promise<void> {
  for (const type of ['normal', 'pubsub']) {
    for (const server of servers) await server.call('CLIENT', 'KILL', 'TYPE', type);
  }
}

/** Locks that live on any of the servers can be taken, and the inbox is heard at one of them. */
async function serves(client: LockProcess, servers: readonly Redis[]): Promise<void> {
  for (let at = 0; at < 3 * servers.length; at += 1) {
    await until('a lock is taken', () =>
      client.acquire(`k${at}`, { wait: 0 }).then(
        (lease) => lease.release(),
        () => false,
      ),
    );
  }
  await until('the inbox is heard', async () => {
    const each = servers.map((server) => server.pubsub('CHANNELS', 'lock:inbox:*'));
    return (await Promise.all(each)).flat().length === 1;
  });
}

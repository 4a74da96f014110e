import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { askedInProcess, inProcess } from '../support/command.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { problemsOf, sees } from './sees.js';

afterEach(closeAll);

function holding(options: RedisLockOptions): LockProcess {
  const holder = new LockProcess(options);
  closing.push(() => holder.close());
  return holder;
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
    await sees(['a', 'b'], holding({ redis: group.source }), words);
    await group.failOver();
    await until('it sees locks at the new primary', async () => {
      return (await askedInProcess(['list', ...words])).code === 0;
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
    await sees(keys, holding({ redis }), ['--cluster', `127.0.0.1:1,${seed}`]);
    const { answer } = await askedInProcess(['doctor', '--cluster', seed]);
    const servers = new Set(answer.findings.flatMap((each: { servers: string[] }) => each.servers));
    expect(servers.size).toBe(3);
  });

  it('says what to give where one node is given for a Redis, and the other way round', async () => {
    const [{ url }] = cluster.primaries as [RedisProcess];
    for (const [name, ends] of [
      ['list', 3],
      ['doctor', 1],
    ] as const) {
      const { code, stdout, stderr } = await inProcess([name, '--url', url]);
      expect([code, stdout + stderr]).toEqual([
        ends,
        expect.stringContaining('this is one node of a Cluster: give it by --cluster.'),
      ]);
    }
    const redis = await RedisProcess.start();
    closing.push(() => redis.stop());
    const { stderr } = await inProcess(['list', '--cluster', `127.0.0.1:${redis.port}`]);
    expect(stderr).toContain('give it by --url, not by --cluster.');
  });

  it('is told of slots that no primary has', async () => {
    const [{ port }] = cluster.primaries as [RedisProcess];
    const tell = async (word: string): Promise<void> => {
      for (const { url } of cluster.primaries) {
        const node = new Redis(url);
        if (word === 'DELSLOTS' || url.endsWith(`:${port}`)) await node.call('CLUSTER', word, 0);
        node.disconnect();
      }
    };
    await tell('DELSLOTS');
    closing.push(() => tell('ADDSLOTS'));
    const { code, answer } = await askedInProcess(['doctor', '--cluster', `127.0.0.1:${port}`]);
    expect([code, problemsOf(answer)]).toMatchObject([
      1,
      [
        {
          check: 'slots',
          found: expect.stringMatching(/^Slots of the Cluster without a primary: 1\./),
          remedy: expect.stringContaining('redis-cli --cluster fix'),
        },
      ],
    ]);
  });

  it('is diagnosed also while a node is away', async () => {
    const one = cluster.primaries[2]!;
    await one.kill();
    closing.push(() => one.run());
    const seed = `127.0.0.1:${cluster.primaries[0]!.port}`;
    const { code, answer } = await askedInProcess(['doctor', '--timeout=1s', '--cluster', seed]);
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

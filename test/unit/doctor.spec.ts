import { describe, expect, it } from '@jest/globals';
import { diagnosesOf, type Finding, ok } from '../../lib/watch/cli/doctor/finding.js';
import { keyFindings } from '../../lib/watch/cli/doctor/keys.js';
import { reportLines } from '../../lib/watch/cli/doctor/report.js';
import { serverFindings } from '../../lib/watch/cli/doctor/server-settings.js';
import type { RedisConnection } from '../../lib/engine/redis/index.js';

const HOUR = 3_600_000;

/** What INFO says of a Redis that is fine. */
const FINE = {
  redis_version: '7.2.0',
  redis_mode: 'standalone',
  role: 'master',
  maxmemory: '0',
  used_memory: '900',
  maxmemory_policy: 'noeviction',
  aof_enabled: '1',
  connected_slaves: '0',
};

const inStep = { connected_slaves: '2', min_slaves_good_slaves: '2' };
const replica = (state: string, lag: number): string =>
  `ip=10.0.0.1,port=6379,state=${state},offset=1,lag=${lag}`;

describe('doctor finds of a server', () => {
  it.each<[what: string, info: object, found: string[]]>([
    ['nothing where all is fine', {}, []],
    ['nothing where less than 90 % of its memory is used', { maxmemory: '1001' }, []],
    ['that 90 % of its memory are used', { maxmemory: '1000' }, ['memory: warning']],
    [
      'that it evicts, which is no problem before its memory is bounded',
      { maxmemory_policy: 'allkeys-lru' },
      ['eviction: warning'],
    ],
    [
      'that it may evict locks now',
      { maxmemory_policy: 'allkeys-lru', maxmemory: '2000' },
      ['eviction: problem'],
    ],
    ['that its snapshots fail', { rdb_last_bgsave_status: 'err' }, ['persistence: problem']],
    ['that its log fails', { aof_last_write_status: 'err' }, ['persistence: problem']],
    ['that it has no append-only file', { aof_enabled: '0' }, ['persistence: warning']],
    ['that writes wait for no replica', { connected_slaves: '1' }, ['replication: warning']],
    [
      'nothing where the last answer of each replica is ten seconds old',
      { ...inStep, slave0: replica('online', 0), slave1: replica('online', 10) },
      [],
    ],
    [
      'that the last answer of a replica is eleven seconds old',
      { ...inStep, slave0: replica('online', 0), slave1: replica('online', 11) },
      ['replication: warning'],
    ],
    [
      'that a replica is not in step yet',
      { ...inStep, slave0: replica('wait_bgsave', 0) },
      ['replication: warning'],
    ],
  ])('%s', async (_what, info, found) => {
    expect(await odd(info)).toEqual(found);
  });

  it('how many of its replicas lag, each replica counted once', async () => {
    const slaves = { slave0: replica('online', 11), slave1: replica('send_bulk', 60) };
    const findings = await serverFindings(
      connectionTo({ ...inStep, connected_slaves: 3, ...slaves }),
    );
    expect(findings.at(-1)!.found).toBe('Of 3 replicas, 2 lag behind or are not in step yet.');
  });
});

describe('doctor finds of keys', () => {
  const heldFor = (ms: number): string =>
    `web.1.${'a'.repeat(11)}/${'b'.repeat(22)}/${(Date.now() - ms) * 1_000}`;
  const found = async (strings: Record<string, string>): Promise<string[]> => {
    const findings = await keyFindings(connectionTo({}, strings), 'lock:', 512);
    return findings.map((finding) => finding.found);
  };

  it('which locks are held for more than a day', async () => {
    const strings = { 'lock:a': heldFor(23 * HOUR), 'lock:b': heldFor(25 * HOUR) };
    expect(await found(strings)).toEqual([
      '2 under "lock:", 2 of them locks that are held.',
      'Held for more than a day: "lock:b".',
    ]);
  });

  it.each([
    [5, '"lock:0", "lock:1", "lock:2", "lock:3", "lock:4"'],
    [6, '"lock:0", "lock:1", "lock:2", "lock:3", "lock:4" and 1 more'],
  ])('which of %i are no locks', async (count, which) => {
    const names = Array.from({ length: count }, (_, nth) => [`lock:${nth}`, 'else']);
    expect(await found(Object.fromEntries(names) as Record<string, string>)).toEqual([
      `${count} under "lock:", 0 of them locks that are held.`,
      `No locks of this library: ${which}. A lock of such a name is refused (ForeignLockError).`,
    ]);
  });
});

describe('what doctor finds of several servers', () => {
  const fine: Finding = ok('memory', 'maxmemory is not set.');
  const full: Finding = { ...fine, status: 'warning', found: 'It is full.', remedy: 'Raise it.' };

  it('is said once for those that have it, and names them where others have it not', () => {
    const diagnoses = diagnosesOf([
      { server: 'a:1', findings: [fine, ok('version', 'Redis 7.')] },
      { server: 'b:2', findings: [full, ok('version', 'Redis 7.')] },
      { server: 'c:3', findings: [fine, ok('version', 'Redis 7.')] },
    ]);
    expect(reportLines(diagnoses).map((line) => line.replaceAll(/ {2,}/g, ' '))).toEqual([
      'ok memory a:1, c:3: maxmemory is not set.',
      'ok version Redis 7.',
      'warning memory b:2: It is full.',
      ' Raise it.',
      '',
      '0 problems, 1 warning',
    ]);
  });
});

/** What doctor finds of a server beside what is fine. */
async function odd(info: object): Promise<string[]> {
  const findings = await serverFindings(connectionTo(info));
  return findings
    .filter(({ status }) => status !== 'ok')
    .map(({ check, status }) => `${check}: ${status}`);
}

/** A connection to a server that says this in INFO, and has these strings. */
function connectionTo(
  info: object,
  strings: Readonly<Record<string, string>> = {},
): RedisConnection {
  const said = Object.entries({ ...FINE, ...info }).map(([name, value]) => `${name}:${value}\r\n`);
  const answers: Record<string, (key: string) => unknown> = {
    info: () => `# Server\r\n${said.join('')}`,
    time: () => ['2000', '250000'],
    eval: () => ['2000', '250000'],
    scan: () => ['0', Object.keys(strings)],
    type: () => 'string',
    pttl: () => 10_000,
    get: (key) => strings[key],
  };
  const send = async (name: string, [key]: readonly string[] = []): Promise<unknown> =>
    answers[name]?.(key!);
  return { send, client: { options: {} } } as unknown as RedisConnection;
}

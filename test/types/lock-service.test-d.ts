// Checked by `tsc`: what must compile, and under each @ts-expect-error what must not.
import type { Cluster, Redis } from 'ioredis';
import {
  type Election,
  fencedRedis,
  fencedSql,
  type FencedSql,
  type Lease,
  type LeaseJson,
  type LockService,
  RedisLockModule,
  type RedisLockOptions,
} from '../../lib/index.js';

export async function mayBeWritten(locks: LockService): Promise<void> {
  const number: number = await locks.withLock('a', () => 1);
  const text: string = await locks.withLock('a', { wait: 0, onLost: 'ignore' }, async () => 'x');
  const nothing: void = await locks.withLock('a', async (lease: Lease) => lease.assertHeld());
  const lease: Lease = await locks.acquire('a', { signal: AbortSignal.timeout(1), ttl: 500 });
  const perhaps: Lease | null = await locks.tryAcquire('a');
  const valid: boolean = await (await locks.optimistic('a')).validate();
  const given: boolean = await lease.release();
  await using disposed = lease;
  void [number, text, nothing, perhaps, valid, given, disposed];
}

export async function mayNotBeWritten(locks: LockService, lease: Lease): Promise<void> {
  // @ts-expect-error a registry of Spring has a key
  await locks.acquire('a', { dialect: 'spring' });
  // @ts-expect-error it needs work
  await locks.withLock('a');
  // @ts-expect-error work stands last
  await locks.withLock('a', () => 1, { wait: 0 });
  // @ts-expect-error its result has a type
  const text: string = await locks.withLock('a', () => 1);
  // @ts-expect-error tryAcquire does not wait
  await locks.tryAcquire('a', { wait: '1s' });
  // @ts-expect-error acquire has no body that onLost could be about
  await locks.acquire('a', { onLost: 'ignore' });
  // @ts-expect-error a key is a string
  await locks.acquire(7);
  // @ts-expect-error there is no such option
  await locks.acquire('a', { timeout: 7 });
  // @ts-expect-error a duration is a number or has a unit
  await locks.acquire('a', { ttl: 'soon' });
  // @ts-expect-error tryAcquire may find the lock taken
  await (await locks.tryAcquire('a')).release();
  // @ts-expect-error a lease is made by the service
  lease.key = 'b';
  void text;
}

/** A mistake is underlined where it is. */
export async function isBlamedWhereItStands(locks: LockService): Promise<void> {
  await locks.withLock(
    'a',
    {
      wait: 0,
      // @ts-expect-error there is no such option
      tll: '1s',
    },
    () => 1,
  );
  await locks.acquire('a', {
    wait: 0,
    // @ts-expect-error a duration has a unit
    ttl: '30',
  });
  RedisLockModule.forRoot({
    name: 'billing',
    // @ts-expect-error there is no such option
    tll: '1s',
  });
}

/** A lease can be stood in for, whole and without a cast. */
export class LeaseOfATest implements Lease {
  readonly keys = ['a'];
  readonly key = 'a';
  readonly fencingToken = 1;
  readonly waited = 0;
  readonly expiresAt = 0;
  readonly held = true;
  readonly signal: AbortSignal = new AbortController().signal;
  fencingTokenOf(): number {
    return 1;
  }
  assertHeld(): void {}
  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    return work();
  }
  async extend(): Promise<void> {}
  async downgrade(): Promise<void> {}
  async handOver(): Promise<string> {
    return '';
  }
  async release(): Promise<boolean> {
    return true;
  }
  toJSON(): LeaseJson {
    return { key: 'a', held: true, expiresAt: 0, fencingToken: 1 };
  }
  async [Symbol.asyncDispose](): Promise<void> {}
}

export function modules(client: Redis, options: RedisLockOptions): void {
  RedisLockModule.forRoot();
  RedisLockModule.forRoot({ redis: client, name: 'billing', isGlobal: false, mapErrors: false });
  RedisLockModule.forRoot({ redis: { host: 'h', port: 1 }, limits: { leases: 1 } });
  RedisLockModule.forRootAsync({ name: 'billing', useFactory: async () => options });
  // @ts-expect-error there is no such option
  RedisLockModule.forRoot({ tll: '1s' });
  // @ts-expect-error Redis is a URL, options or a client
  RedisLockModule.forRoot({ redis: 6379 });
  // @ts-expect-error there is no such limit
  RedisLockModule.forRoot({ limits: { keys: 1 } });
  // @ts-expect-error a name stands beside the factory, not in what it makes
  RedisLockModule.forRootAsync({ useFactory: () => ({ name: 'billing' }) });
}

export async function mayBeElected(locks: LockService): Promise<void> {
  const election: Election = locks.election('a', { ttl: '5s' });
  election
    .on('elected', (lease) => lease.assertHeld())
    .once('deposed', ({ reason }) => void reason);
  const lease: Lease = await election.campaign({ signal: AbortSignal.timeout(1) });
  const [leads, led, leader] = [election.leads, await election.resign(), await election.leader()];
  const pid: number | undefined = leader?.pid;
  void [lease, leads, led, pid];
  // @ts-expect-error there is no such event
  election.on('resigned', () => {});
  // @ts-expect-error a campaign waits until it is won
  locks.election('a', { wait: '1s' });
}

export async function mayBeFenced(
  client: Redis | Cluster,
  lease: Lease,
  database: { query(sql: string, values: unknown[]): Promise<{ rowCount: number | null }> },
): Promise<void> {
  await fencedRedis(client, lease).set('a', 1, 'PX', 1000);
  await fencedRedis(client, 5, { retention: Infinity }).eval('return 1', ['a'], [Buffer.of(1)]);
  const fence: FencedSql = fencedSql('fence', { quotes: 'mysql' });
  fence.assertWritten(await database.query(`… ${fence.set('$1')}`, [lease.fencingToken]), lease);
  // @ts-expect-error a token is a number
  fencedRedis(client, '5');
  // @ts-expect-error a value is no placeholder
  fence.where(lease.fencingToken);
}

import { LockOptionsError, LockStoreError } from '../errors/index.js';
import type { ModuleSettings } from '../options/index.js';
import { addressOf } from './open-connection.js';
import type { OutageListener } from './outage-watch.js';
import { type RedisConnection, trial } from './redis-connection.js';
import { checkRights, type Rights } from './rights.js';
import { probe } from './server-probe.js';
import { Redirection, saysOf, unfit } from './store-failure.js';

/** The oldest Redis with everything that the scripts use. */
const OLDEST = [6, 2] as const;
/** The oldest Redis that refuses writes of scripts, too, if min-replicas-to-write is not met. */
const HOLDS_SCRIPTS = [6, 2, 7] as const;
/** How many keys, far apart, are tried to find whether a server has all slots. */
const KEYS = 16;

/** The checks of a server at the start, and the listener to its outages. */
export interface ServerChecks extends Partial<
  Pick<ModuleSettings, 'replicas' | 'durability' | 'connectTimeout'>
> {
  /** Told when the connection is lost and when it is back. */
  readonly outages?: OutageListener | undefined;
  /** The rights that the user needs. */
  readonly rights?: Rights | undefined;
  /** Checks the server on every new connection, before any other command is sent there. */
  readonly admit?: ((connection: RedisConnection) => Promise<void>) | undefined;
}

/**
 * Checks whether a server can keep locks. Resolves to its INFO; to an empty text if its user may not see that.
 * @throws LockStoreError that says what is wrong there and what helps; LockOptionsError because of `durability`.
 */
export async function checkServer(
  connection: RedisConnection,
  checks: ServerChecks,
): Promise<string> {
  const info = await infoOf(connection, checks);
  const mode = serverMode(info);
  if (mode === 'sentinel') {
    throw unfit('this is a Sentinel: give it as { sentinels: [{ host, port }], name }');
  }
  const version = serverField(info, 'redis_version');
  if (version !== undefined && isOlder(version, OLDEST)) {
    throw unfit(`it is version ${version}, and locks need ${OLDEST.join('.')} or later`);
  }
  const isReplica = serverField(info, 'role') === 'slave';
  if (isReplica && mode !== 'cluster') {
    throw unfit(
      'this Redis is a read-only replica (READONLY): give its primary, or the Sentinels',
      true,
    );
  }
  refuseRisks(info, addressOf(connection.client), checks);
  await isTime(connection, connection.send('time'));
  await connection.send('evalsha', [trial.sha, 0]).catch((error: LockStoreError) => {
    if (!error.message.includes('NOSCRIPT')) throw error;
  });
  await isTime(connection, connection.send('eval', [trial.source, 0]));
  if (checks.rights) await checkRights(connection, checks.rights);
  if (checks.replicas && !isReplica) await connection.send('wait', [0, 1]);
  return info;
}

/** @throws LockStoreError if the server has only a part of a Cluster's slots. */
export async function checkSlots(connection: RedisConnection, prefix: string): Promise<void> {
  const keys = Array.from({ length: KEYS }, (_, at) => `${prefix}{${at}}`);
  const asked = keys.map((key) => connection.send('eval', ['return 1', 1, key]));
  for (const answer of await Promise.allSettled(asked)) {
    if (answer.status === 'fulfilled') continue;
    if (!(answer.reason instanceof Redirection)) throw answer.reason;
    throw unfit('this is one node of a Cluster: give { cluster: [{ host, port }] }');
  }
}

/** Whether no script may have keys of two slots, as at a node of a Cluster, and behind some proxies. */
export async function hasSlots(connection: RedisConnection, prefix: string): Promise<boolean> {
  const keys = [`${prefix}{0}`, `${prefix}{1}`];
  try {
    await connection.send('eval', ['return 1', keys.length, ...keys]);
    return false;
  } catch (error) {
    if (!(error instanceof LockStoreError) || error.outcome !== 'refused') throw error;
    if (error.message.includes('CROSSSLOT')) return true;
    if (error.retryable) {
      if (!error.message.includes('answered with an error')) throw error;
      await connection.send('eval', ['return 1', 1, keys[0]!]); // a proxy words this error in its own way
    }
    return !error.message.includes('NOPERM');
  }
}

async function infoOf(connection: RedisConnection, { durability }: ServerChecks): Promise<string> {
  try {
    const info = await connection.send('info');
    if (typeof info === 'string' && /^\w+:/m.test(info)) return info;
  } catch (error) {
    if (!(error instanceof LockStoreError) || error.outcome !== 'refused') throw error;
    if (durability !== 'refuse') return '';
    throw unfit(`option "durability" is 'refuse', which needs INFO: ${saysOf(error)}`);
  }
  throw await noRedis(connection);
}

async function isTime(connection: RedisConnection, asked: Promise<unknown>): Promise<void> {
  const answer = await asked;
  if (Array.isArray(answer) && answer.length === 2 && answer.every((part) => Number(part) >= 0)) {
    return;
  }
  throw await noRedis(connection);
}

async function noRedis({ client, clock }: RedisConnection): Promise<LockStoreError> {
  const found = await probe(client.options, clock);
  return found ?? unfit('what answers there is no Redis');
}

function isOlder(version: string, than: readonly number[]): boolean {
  const numbers = version.split('.').map(Number);
  const at = than.findIndex((part, nth) => part !== (numbers[nth] ?? 0));
  return at >= 0 && (numbers[at] ?? 0) < than[at]!;
}

/** The description of a server in the start-up log. */
export interface Description {
  readonly found: string;
  readonly warnings: string[];
}

/** Describes a server from its INFO; without a version if the user has no right to INFO. */
export function description(info: string, address: string, checks: ServerChecks): Description {
  const replicas = Number(serverField(info, 'connected_slaves') ?? 0);
  const following = replicas > 0 ? `, with ${replicas} replica${replicas > 1 ? 's' : ''}` : '';
  return {
    found: `${productOf(info)} at ${address}${following}`,
    warnings: checks.durability === 'ignore' ? [] : sentencesOf(risks(info, checks)),
  };
}

/** The product's own name and version: forks also say which Redis they are compatible with. */
export function productOf(info: string): string {
  const [, name, version] =
    /^(valkey|redict|dragonfly|garnet|keydb)_version:(\S+)/m.exec(info) ?? [];
  if (name) return `${name[0]!.toUpperCase()}${name.slice(1)} ${version}`;
  return `Redis ${serverField(info, 'redis_version') ?? '(version unknown)'}`;
}

/** @throws LockOptionsError if `durability` is 'refuse' and the server can lose locks despite a grace period. */
function refuseRisks(info: string, address: string, checks: ServerChecks): void {
  if (checks.durability !== 'refuse') return;
  const found = sentencesOf(risks(info, checks).filter(({ about }) => about !== 'confirmation'));
  if (found.length === 0) return;
  throw new LockOptionsError(
    `Option "durability" is 'refuse', and Redis at ${address} can lose locks: ${found.join(' ')}`,
  );
}

/** A way in which a server can lose locks, and what helps. */
export interface Risk {
  /** `confirmation`: the replicas that have to confirm are away, so that no lock is granted, and none lost. */
  readonly about: 'eviction' | 'replication' | 'confirmation' | 'persistence';
  readonly finds: string;
  readonly remedy: string;
}

/** The ways in which a server can lose locks, or have a second primary. A grace period makes a restart harmless. */
export function risks(info: string, { replicas, durability }: ServerChecks): Risk[] {
  const found: Risk[] = [];
  const policy = serverField(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    found.push({
      about: 'eviction',
      finds: `maxmemory-policy is ${policy}: Redis may evict locks that are held.`,
      remedy: 'Set it to noeviction.',
    });
  }
  const following = Number(serverField(info, 'connected_slaves') ?? 0);
  const isBound = serverField(info, 'min_slaves_good_slaves') !== undefined;
  const version = serverField(info, 'redis_version');
  const isDeaf = version !== undefined && isOlder(version, HOLDS_SCRIPTS);
  if (following > 0 && !replicas && (!isBound || isDeaf)) {
    found.push({
      about: 'replication',
      finds:
        'It is replicated, and takes writes that no replica has: a failover can lose them, and a primary that is cut off still grants locks.',
      remedy: isDeaf
        ? 'Set option "replicas": before Redis 6.2.7, min-replicas-to-write does not hold scripts.'
        : 'Set option "replicas", or min-replicas-to-write.',
    });
  }
  if (replicas && following < replicas.acks) {
    found.push({
      about: 'confirmation',
      finds: `Option "replicas" asks for ${replicas.acks} and ${following} are connected: no lock is granted until they are.`,
      remedy: '',
    });
  }
  if (durability !== 'refuse' && serverField(info, 'aof_enabled') === '0') {
    found.push({
      about: 'persistence',
      finds:
        'Redis has no append-only file: after a restart it has forgotten the locks that were held.',
      remedy:
        'Set appendonly yes, or option "durability" to \'refuse\' (then it grants nothing for one ttl after a restart).',
    });
  }
  return found;
}

function sentencesOf(found: readonly Risk[]): string[] {
  return found.map(({ finds, remedy }) => `${finds} ${remedy}`.trimEnd());
}

/** `standalone`, `sentinel` or `cluster`; Valkey 9 has another name for the field. */
export function serverMode(info: string): string | undefined {
  return serverField(info, 'redis_mode') ?? serverField(info, 'server_mode');
}

/** The value of a field in INFO. */
export function serverField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

import { LockOptionsError } from '../../../engine/errors/index.js';
import {
  checkServer,
  productOf,
  type RedisConnection,
  risks,
  saysOf,
  serverField,
} from '../../../engine/redis/index.js';
import { type Finding, ok, problem, warning } from './finding.js';

/** The used share of memory above which a server may soon refuse locks. */
const FULL = 0.9;
/** A replica whose last answer is older than this, in s, lags. */
const LAGS = 10;

/** Checks a server and its settings. For a server that cannot keep locks, the one finding says why. */
export async function serverFindings(connection: RedisConnection): Promise<Finding[]> {
  let info: string;
  try {
    info = await checkServer(connection, {});
  } catch (error) {
    if (error instanceof LockOptionsError) throw error;
    return [problem('server', `It cannot keep locks: ${saysOf(error as Error)}.`)];
  }
  if (info === '') {
    const found = 'The Redis user may not see INFO: version and settings are not known.';
    return [warning('server', found, 'Grant +info, or run doctor as another user.')];
  }
  return [
    ok('version', `${productOf(info)}.`),
    eviction(info),
    memory(info),
    persistence(info),
    replication(info),
  ];
}

function riskOf(info: string, about: 'eviction' | 'persistence' | 'replication') {
  return risks(info, {}).find((risk) => risk.about === about);
}

function eviction(info: string): Finding {
  const risk = riskOf(info, 'eviction');
  if (!risk) return ok('eviction', 'maxmemory-policy is noeviction.');
  if (Number(serverField(info, 'maxmemory')) > 0)
    return problem('eviction', risk.finds, risk.remedy);
  return warning('eviction', `${risk.finds} So far maxmemory is 0, and nothing is.`, risk.remedy);
}

function memory(info: string): Finding {
  const [used, most] = ['used_memory', 'maxmemory'].map((name) => Number(serverField(info, name)));
  if (!most) return ok('memory', 'maxmemory is not set.');
  const share = `${Math.round((used! / most) * 100)} % of maxmemory is used.`;
  if (used! < most * FULL) return ok('memory', share);
  const remedy = 'Raise maxmemory: a full Redis refuses new locks (OOM).';
  return warning('memory', share, remedy);
}

function persistence(info: string): Finding {
  const failing = ['aof_last_write_status', 'rdb_last_bgsave_status'].find(
    (name) => serverField(info, name) === 'err',
  );
  if (failing) {
    return problem(
      'persistence',
      `Redis cannot write to its disk (${failing} is err), and refuses writes then.`,
      'Look into the log of Redis, and make room on its disk.',
    );
  }
  const risk = riskOf(info, 'persistence');
  if (risk) return warning('persistence', risk.finds, risk.remedy);
  return ok('persistence', 'Redis has an append-only file.');
}

function replication(info: string): Finding {
  const replicas = Number(serverField(info, 'connected_slaves') ?? 0);
  const behind = [...info.matchAll(/^slave\d+:(.*)$/gm)].filter(([, about = '']) => {
    const lag = Number(/\blag=(\d+)/.exec(about)?.[1] ?? 0);
    return !about.includes('state=online') || lag > LAGS;
  });
  if (behind.length > 0) {
    return warning(
      'replication',
      `Of ${replicas} replicas, ${behind.length} lag behind or are not in step yet.`,
      'Look into their logs: a failover to them loses locks.',
    );
  }
  const risk = riskOf(info, 'replication');
  if (risk) return warning('replication', risk.finds, risk.remedy);
  if (replicas === 0) return ok('replication', 'There is no replica.');
  return ok('replication', `${replicas} in step, and min-replicas-to-write is set.`);
}

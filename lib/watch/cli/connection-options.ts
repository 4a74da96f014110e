import { readFileSync } from 'node:fs';
import {
  type CheckedSource,
  DEFAULT_URL,
  nodeOptions,
  parseRedisUrl,
  redisSource,
} from '../../engine/options/index.js';
import type { Values } from './arguments.js';
import { UsageError } from './usage-error.js';

type RedisOptions = ReturnType<typeof parseRedisUrl>;
type Environment = Readonly<Record<string, string | undefined>>;

const SENTINEL_PORT = 26_379;

/** Reads the connection from options and environment. @throws UsageError, LockOptionsError: neither repeats a value. */
export function connectionOptionsOf(values: Values, env: Environment): CheckedSource {
  const { url, cluster, sentinel, master } = values;
  const given = Object.entries({ url, cluster, sentinel }).filter(([, value]) => value);
  if (given.length > 1) {
    const names = given.map(([name]) => `--${name}`).join(' and ');
    throw new UsageError(`${names} exclude each other: give one of them.`);
  }
  if ((master === undefined) !== (sentinel === undefined)) {
    throw new UsageError('Sentinels need both --sentinel host:port and --master name.');
  }
  if (cluster !== undefined) return clusterAt(cluster, values, env);
  if (sentinel !== undefined) return sentinelsAt(sentinel, values, env);
  return redisAt(values, env);
}

function redisAt(values: Values, env: Environment): CheckedSource {
  const from = values.url === undefined && env['REDIS_URL'] ? 'REDIS_URL' : '--url';
  const options = parseRedisUrl(from, values.url ?? (env['REDIS_URL'] || DEFAULT_URL));
  const tls = tlsOf(values, options.tls !== undefined);
  return redisSource(from, { ...options, ...credentialsOf(env, options), ...tls, ...dbOf(values) });
}

function clusterAt(list: string, values: Values, env: Environment): CheckedSource {
  if (values.db !== undefined) {
    throw new UsageError('--cluster and --db exclude each other: a Cluster has one database.');
  }
  const cluster = list.split(',').map((node) => node.trim());
  const nodes = cluster.map((node) => nodeOptions('--cluster', node));
  const named = nodes.find(({ username, password }) => username ?? password);
  const tls = tlsOf(
    values,
    nodes.some((node) => node.tls),
  );
  return redisSource('--cluster', { ...credentialsOf(env, named), ...tls, cluster });
}

function sentinelsAt(list: string, values: Values, env: Environment): CheckedSource {
  const sentinels = list.split(',').map((node) => {
    if (/[@/]/.test(node)) {
      throw new UsageError(
        '--sentinel takes host:port,host:port. REDIS_PASSWORD is the password of Redis, and REDIS_SENTINEL_PASSWORD that of the Sentinels.',
      );
    }
    const { host, port } = parseRedisUrl('--sentinel', `redis://${node.trim()}`);
    return { host: host ?? '127.0.0.1', port: port ?? SENTINEL_PORT };
  });
  const { tls } = tlsOf(values, false);
  return redisSource('--sentinel', {
    ...credentialsOf(env),
    ...(env['REDIS_SENTINEL_USERNAME'] && { sentinelUsername: env['REDIS_SENTINEL_USERNAME'] }),
    ...(env['REDIS_SENTINEL_PASSWORD'] && { sentinelPassword: env['REDIS_SENTINEL_PASSWORD'] }),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    ...dbOf(values),
    sentinels,
    name: values.master,
  });
}

/** The user and the password of a URL, or else of the environment. */
function credentialsOf(env: Environment, url: RedisOptions = {}): RedisOptions {
  const { username = env['REDIS_USERNAME'], password = env['REDIS_PASSWORD'] } = url;
  return { ...(username && { username }), ...(password && { password }) };
}

function dbOf({ db }: Values): { readonly db?: number } {
  if (db === undefined) return {};
  if (!/^\d{1,9}$/.test(db)) {
    throw new UsageError('--db takes the number of a database: --db 0.');
  }
  return { db: Number(db) };
}

/** Reads the TLS options; `isTls` is true for a rediss:// URL. */
function tlsOf(values: Values, isTls: boolean): Pick<RedisOptions, 'tls'> {
  const { tls, ca, cert, key, servername } = values;
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('A client certificate needs both --cert and --key, each a file.');
  }
  if (!isTls && !tls && ca === undefined && cert === undefined && servername === undefined) {
    return {};
  }
  return {
    tls: {
      ...(ca !== undefined && { ca: contentOf('ca', ca) }),
      ...(cert !== undefined && { cert: contentOf('cert', cert) }),
      ...(key !== undefined && { key: contentOf('key', key) }),
      ...(servername !== undefined && { servername }),
    },
  };
}

function contentOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file of --${option} cannot be read (${code}): give its path.`);
  }
}

import { jvmPeer, type JvmPeer, type Release, RELEASES, versionsOf } from './jvm.js';

/** The two types of a RedisLockRegistry. */
export type SpringType = 'SPIN_LOCK' | 'PUB_SUB_LOCK';

/** How articles lock in Java by Jedis. */
export type Article = 'setnx' | 'owner' | 'hash';

const redissons = versionsOf('redisson');
const springs = versionsOf('spring-integration');
const shedLocks = versionsOf('shedlock');
const jedis = versionsOf('jedis');

const REDISSON = {
  lock: ['RLock', 'lock'],
  fenced: ['RFencedLock', 'fenced'],
  read: ['the reader of an RReadWriteLock', 'readWrite'],
  write: ['the writer of an RReadWriteLock', 'readWrite'],
  spin: ['a spin lock', 'lock'],
  fair: ['RFairLock', 'lock'],
} as const;

/** Redisson's lock of a kind; `fair` is beside the dialect of an RLock, whose hash it has. */
export function redisson(kind: keyof typeof REDISSON, release: Release): JvmPeer {
  const [name, ours] = REDISSON[kind];
  return jvmPeer(['redisson', kind], release, {
    name: `${name} of Redisson ${redissons[release]}`,
    dialect: { name: 'redisson', kind: ours },
    waits: true,
  });
}

export function spring(type: SpringType, release: Release): JvmPeer {
  return jvmPeer(['spring', type], release, {
    name: `RedisLockRegistry of Spring Integration ${springs[release]} with ${type}`,
    dialect: { name: 'spring', registry: 'app:locks', publish: type === 'PUB_SUB_LOCK' },
    waits: true,
  });
}

/** ShedLock's RedisLockProvider; one that is not `safe` compares nothing. */
export function shedLock(how: 'safe' | 'unsafe', release: Release): JvmPeer {
  return jvmPeer(['shedlock', how], release, {
    name: `ShedLock ${shedLocks[release]} ${how === 'safe' ? 'with' : 'without'} safeUpdate`,
    dialect: 'shedlock',
  });
}

/** What of ours speaks to which article. */
const ARTICLES = {
  setnx: { name: 'timestamp', unit: 'ms', protocol: 'commands', suffix: '_lock' },
  owner: 'plain',
  hash: 'redisson',
} as const;

export function article(
  kind: Article,
  release: Release,
  dialect: JvmPeer['dialect'] = ARTICLES[kind],
): JvmPeer {
  const beside = typeof dialect === 'object' ? ` beside ${JSON.stringify(dialect)}` : '';
  return jvmPeer(['jedis', kind], release, {
    name: `the articles’ Java code (${kind}) on Jedis ${jedis[release]}${beside}`,
    dialect,
  });
}

/** Of each library the locks that exclude ours, in both releases. */
export const jvmPeers: Readonly<Record<string, readonly JvmPeer[]>> = {
  Redisson: [
    ...(['lock', 'fenced', 'write', 'spin'] as const).map((kind) => redisson(kind, 'current')),
    ...(['lock', 'write'] as const).map((kind) => redisson(kind, 'older')),
  ],
  Spring: RELEASES.flatMap((release) =>
    (['SPIN_LOCK', 'PUB_SUB_LOCK'] as const).map((type) => spring(type, release)),
  ),
  ShedLock: RELEASES.map((release) => shedLock('safe', release)),
  Jedis: [
    article('setnx', 'current'),
    article('setnx', 'current', { ...ARTICLES.setnx, protocol: 'script' }),
    article('setnx', 'older', { name: 'plain', guard: 'timestamp', suffix: '_lock' }),
    article('owner', 'current'),
    article('hash', 'current'),
  ],
};

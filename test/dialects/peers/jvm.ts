import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import { type DrivenPeer, drivenPeer } from './driven-peer.js';
import { madeOnce, prepared, run } from './made-once.js';

/** The libraries as they are now, and as they were: profiles of jvm/pom.xml. */
export const RELEASES = ['current', 'older'] as const;
type Release = (typeof RELEASES)[number];

const HERE = 'test/dialects/peers/jvm';
const POM = join(HERE, 'pom.xml');
const SOURCES = readdirSync(join(HERE, 'src/main/java/peers')).map((file) =>
  join(HERE, 'src/main/java/peers', file),
);
/** Small and soon there: most live for a second. */
const JVM = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m';

const program = (release: Release): string => resolve(`.cache/peers/jvm-${release}/peer`);

/** The real libraries, of the versions in pom.xml, with a program that is compiled against them. */
function compiling(release: Release): () => string | undefined {
  return () => {
    const here = (...words: [string, ...string[]]): boolean =>
      spawnSync(words[0], words.slice(1)).status === 0;
    if (!here('javac', '--release', '17', '-version') || !here('mvn', '--version')) {
      return 'a JDK from 17 on and Maven are not here (apt-get install default-jdk-headless maven)';
    }
    return prepared(`the libraries for the JVM, ${release},`, () => {
      const libraries = madeOnce(`jvm-${release}-libraries`, [POM], (folder) => {
        const words = ['-B', '-q', '-f', POM, '-P', release, 'dependency:copy-dependencies'];
        run('mvn', [...words, `-DoutputDirectory=${folder}`]);
      });
      madeOnce(`jvm-${release}`, [POM, ...SOURCES], (folder) => {
        const path = ['-cp', join(libraries, '*'), '-d', folder];
        run('javac', ['-nowarn', '-Xmaxerrs', '5', '--release', '17', ...path, ...SOURCES]);
        const java = `java ${JVM} -cp '${folder}:${libraries}/*' peers.Main "$@"`;
        writeFileSync(program(release), `#!/bin/sh\nexec ${java}\n`, { mode: 0o755 });
      });
    });
  };
}

const PREPARATIONS = { current: compiling('current'), older: compiling('older') };

/** The versions of a library in jvm/pom.xml, by release. */
export function versionsOf(property: string): Readonly<Record<Release, string>> {
  const pom = readFileSync(POM, 'utf8');
  const [current, older] = [...pom.matchAll(new RegExp(`<${property}.version>(.+?)<`, 'g'))];
  return { current: current![1]!, older: older![1]! };
}

interface Library {
  readonly name: string;
  readonly dialect: LockDialect;
  /** The library, and which of its locks. */
  readonly args: readonly ['redisson' | 'spring' | 'shedlock' | 'jedis', string];
  readonly waits?: boolean;
}

function jvm(release: Release, library: Library): DrivenPeer {
  return drivenPeer({
    ...library,
    shortest: 500, // what a JVM that has just started does at the least
    prepare: PREPARATIONS[release],
    program: program(release),
  });
}

/** The two types of a RedisLockRegistry. */
type SpringType = 'SPIN_LOCK' | 'PUB_SUB_LOCK';

/** How articles lock in Java by Jedis. */
type Article = 'setnx' | 'owner' | 'hash';

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
export function redisson(kind: keyof typeof REDISSON, release: Release): DrivenPeer {
  const [name, ours] = REDISSON[kind];
  return jvm(release, {
    args: ['redisson', kind],
    name: `${name} of Redisson ${redissons[release]}`,
    dialect: { name: 'redisson', kind: ours },
    waits: true,
  });
}

export function spring(type: SpringType, release: Release): DrivenPeer {
  return jvm(release, {
    args: ['spring', type],
    name: `RedisLockRegistry of Spring Integration ${springs[release]} with ${type}`,
    dialect: { name: 'spring', registry: 'app:locks', publish: type === 'PUB_SUB_LOCK' },
    waits: true,
  });
}

/** ShedLock's RedisLockProvider; one that is not `safe` compares nothing. */
export function shedLock(how: 'safe' | 'unsafe', release: Release): DrivenPeer {
  return jvm(release, {
    args: ['shedlock', how],
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

function articlesInJava(
  kind: Article,
  release: Release,
  dialect: LockDialect = ARTICLES[kind],
): DrivenPeer {
  const beside = typeof dialect === 'object' ? ` beside ${JSON.stringify(dialect)}` : '';
  return jvm(release, {
    args: ['jedis', kind],
    name: `the articles’ Java code (${kind}) on Jedis ${jedis[release]}${beside}`,
    dialect,
  });
}

/** Of each library the locks that exclude ours, in both releases. */
export const jvmPeers = {
  redisson: [
    ...(['lock', 'fenced', 'write', 'spin'] as const).map((kind) => redisson(kind, 'current')),
    ...(['lock', 'write'] as const).map((kind) => redisson(kind, 'older')),
  ],
  spring: RELEASES.flatMap((release) =>
    (['SPIN_LOCK', 'PUB_SUB_LOCK'] as const).map((type) => spring(type, release)),
  ),
  shedLock: RELEASES.map((release) => shedLock('safe', release)),
  jedis: [
    articlesInJava('setnx', 'current'),
    articlesInJava('setnx', 'current', { ...ARTICLES.setnx, protocol: 'script' }),
    articlesInJava('setnx', 'older', { name: 'plain', guard: 'timestamp', suffix: '_lock' }),
    articlesInJava('owner', 'current'),
    articlesInJava('hash', 'current'),
  ],
} satisfies Readonly<Record<string, readonly DrivenPeer[]>>;

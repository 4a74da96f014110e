import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startChild } from '../../../tools/children.js';
import type { LockDialect } from '../../../lib/options/index.js';
import { conversation, ended } from './driven-peer.js';
import type { Peer, PeerClient, Turn } from './peer.js';

/** The libraries as they are now, and as they were: profiles of jvm/pom.xml. */
export const RELEASES = ['current', 'older'] as const;
export type Release = (typeof RELEASES)[number];

export type Library = 'redisson' | 'spring' | 'shedlock' | 'jedis';

/** A process with one client of a library for the JVM; jvm/src says what each can. */
export interface JvmClient extends PeerClient {
  wait(name: string): Promise<boolean>;
  /** Has it by the library's own renewal to `ttl` ms. */
  keep(name: string, ttl: number): Promise<boolean>;
  /** Lengthens its lease once. */
  renew(name: string, ttl: number): Promise<boolean>;
  /** Of what it holds. */
  token(name: string): Promise<number>;
  /** Has the lock, adds 1 to what stands at `value:<name>`, and gives it back; null where it is taken. */
  turn(name: string, ttl: number): Promise<Turn | null>;
  /** The same, where it waits for the lock. */
  nextTurn(name: string): Promise<Turn | null>;
}

/** A library for the JVM, in one release. */
export interface JvmPeer extends Peer {
  connect(url: string): Promise<JvmClient>;
}

const FOLDER = resolve('.cache/jvm');
const PROJECT = 'test/dialects/peers/jvm';
/** Small and soon there: most live for a second. */
const JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m'];

let missing: string | null | undefined;

/** What of the tools is not here; undefined where all are. */
export function missingTools(): string | undefined {
  if (missing === undefined) {
    const here = (...words: [string, ...string[]]): boolean =>
      spawnSync(words[0], words.slice(1)).status === 0;
    const all = here('javac', '--release', '17', '-version') && here('mvn', '--version');
    missing = all
      ? null
      : 'a JDK from 17 on and Maven are not here (apt-get install default-jdk-headless maven)';
  }
  return missing ?? undefined;
}

/** Has the libraries got and the drivers compiled, on their first use and when something has changed. */
export async function buildJvm(): Promise<void> {
  const build = resolve(PROJECT, 'build.mjs');
  await promisify(execFile)(process.execPath, [build, FOLDER, ...RELEASES]);
}

/** How long the first download may take, in ms. */
export const FIRST_BUILD = 600_000;

/** The versions of a library in jvm/pom.xml, by release. */
export function versionsOf(property: string): Readonly<Record<Release, string>> {
  const pom = readFileSync(`${PROJECT}/pom.xml`, 'utf8');
  const [current, older] = [...pom.matchAll(new RegExp(`<${property}.version>(.+?)<`, 'g'))];
  return { current: current![1]!, older: older![1]! };
}

export function jvmPeer(
  [library, kind]: readonly [Library, string],
  release: Release,
  { name, dialect, waits = false }: { name: string; dialect: LockDialect; waits?: boolean },
): JvmPeer {
  return {
    name,
    dialect,
    shortest: 500, // what a JVM that has just started does at the least
    waits,
    get missing() {
      return missingTools();
    },
    connect: (url) => connect(release, new URL(url).port, library, kind),
  };
}

async function connect(release: Release, ...words: string[]): Promise<JvmClient> {
  const path = [`${FOLDER}/${release}/classes`, `${FOLDER}/${release}/lib/*`].join(delimiter);
  const child = startChild('java', [...JVM, '-cp', path, 'peers.Main', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const asked = conversation<unknown>(child);
  const ask = async <Answer = boolean>(question: object): Promise<Answer> =>
    (await asked(question)) as Answer;
  await ask({ ask: 'hello' });
  return {
    acquire: (name, ttl) => ask({ ask: 'acquire', name, ttl }),
    release: (name) => ask({ ask: 'release', name }),
    wait: (name) => ask({ ask: 'wait', name }),
    keep: (name, ttl) => ask({ ask: 'keep', name, ttl }),
    renew: (name, ttl) => ask({ ask: 'renew', name, ttl }),
    token: (name) => ask<number>({ ask: 'token', name }),
    turn: (name, ttl) => ask<Turn | null>({ ask: 'turn', name, ttl }),
    nextTurn: (name) => ask<Turn | null>({ ask: 'next turn', name }),
    close: () => ended(child),
  };
}

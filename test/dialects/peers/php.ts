import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import { type Driver, drivenPeer } from './driven-peer.js';
import { madeOnce, prepared, run } from './made-once.js';
import type { Peer } from './peer.js';

const PACKAGES = 'test/dialects/peers/php/packages.json';
const EXTENSIONS = ['ctype', 'iconv', 'igbinary', 'mbstring', 'posix', 'tokenizer', 'redis'];

/** A release of Debian, with its own PHP and its own versions of the libraries. */
type Suite = 'bookworm' | 'trixie' | 'sid';
type Client = 'phpredis' | 'predis';

interface Library {
  readonly name: string;
  readonly dialect: LockDialect;
  /** The shortest lease it can take, in ms. */
  readonly shortest: number;
  readonly script: string;
  readonly args: readonly string[];
}

const program = (suite: Suite): string => resolve(`.cache/peers/php-${suite}/php`);

/** The real libraries, of the versions in packages.json, unpacked and not installed. */
function php(suite: Suite, library: Library): Peer {
  return drivenPeer({
    ...library,
    prepare: PREPARATIONS[suite],
    program: program(suite),
    script: `php/${library.script}`,
  });
}

function unpacking(suite: Suite): Driver['prepare'] {
  return () => {
    if (spawnSync('apt-get', ['--version']).status !== 0) return 'this is no Debian';
    return prepared(`PHP of ${suite}`, () =>
      madeOnce(`php-${suite}`, [PACKAGES], (folder) => {
        const root = join(folder, 'root');
        const wanted = JSON.parse(readFileSync(PACKAGES, 'utf8')) as Record<Suite, string[]>;
        const words = ['tools/debian-root.mjs', root, suite, ...wanted[suite]];
        const loader = run(process.execPath, words);
        // Some look for others at the place where they would be installed.
        const here = `s#/usr/share/php/#${root}/usr/share/php/#g`;
        const loaders = ['-name', 'autoload.php', '-exec', 'sed', '-i', here, '{}', '+'];
        run('find', [join(root, 'usr/share/php'), ...loaders]);
        const [name] = readdirSync(join(root, 'usr/bin')).filter((each) => /^php\d/.test(each));
        const libraries = join(root, 'usr/lib/php');
        const [api] = readdirSync(libraries).filter((each) => /^\d{8}$/.test(each));
        const flags = [
          '-n',
          ...[
            `extension_dir=${libraries}/${api}`,
            ...EXTENSIONS.map((each) => `extension=${each}`),
            `include_path=${root}/usr/share/php`,
            'error_reporting=8191', // without what is only old for this PHP
            'display_errors=stderr',
          ].flatMap((setting) => ['-d', `'${setting}'`]),
        ].join(' ');
        const text = `#!/bin/sh\nexec ${loader} ${root}/usr/bin/${name} ${flags} "$@"\n`;
        writeFileSync(program(suite), text, { mode: 0o755 });
      }),
    );
  };
}

const PREPARATIONS = {
  bookworm: unpacking('bookworm'),
  trixie: unpacking('trixie'),
  sid: unpacking('sid'),
};

/** Laravel's own store, as its configuration makes it. */
function laravelOf(suite: Suite, version: string, client: Client, prefix: string): Peer {
  return php(suite, {
    name: `Laravel ${version} with ${client}`,
    dialect: { name: 'laravel', prefix },
    shortest: 1_000,
    script: 'laravel.php',
    args: [client],
  });
}

/** symfony/lock, as a writer or a reader. */
export function symfony(
  mode: 'read' | 'write',
  suite: Suite = 'trixie',
  version = '6.4',
  client: Client = 'phpredis',
): Peer {
  return php(suite, {
    name: `symfony/lock ${version} with ${client} (${mode})`,
    dialect: 'symfony',
    shortest: 50,
    script: 'symfony.php',
    args: [client, mode],
  });
}

/** The locks of the articles in PHP. */
export function articlesInPhp(kind: 'setnx' | 'eval', client: Client): Peer {
  return php('trixie', {
    name: `a client of the articles in PHP with ${client}, ${kind.toUpperCase()}`,
    dialect:
      kind === 'eval'
        ? 'plain'
        : { name: 'timestamp', unit: 's', protocol: 'commands', suffix: '_lock' },
    shortest: kind === 'eval' ? 50 : 1_000,
    script: 'articles.php',
    args: [client, kind],
  });
}

const UP_TO_10 = 'shop_database_shop_cache:';

export const laravel = laravelOf('trixie', '10.48', 'phpredis', UP_TO_10);

/** What Debian's releases have, and where `PEERS=newest` what is on its way to the next, of versions that nobody can pin. */
export const phpPeers: readonly Peer[] = [
  laravelOf('bookworm', '8.83', 'phpredis', UP_TO_10),
  laravelOf('bookworm', '8.83', 'predis', UP_TO_10),
  laravel,
  laravelOf('trixie', '10.48', 'predis', UP_TO_10),
  symfony('write', 'bookworm', '5.4'),
  symfony('write'),
  symfony('write', 'trixie', '6.4', 'predis'),
  articlesInPhp('setnx', 'phpredis'),
  articlesInPhp('setnx', 'predis'),
  articlesInPhp('eval', 'phpredis'),
  articlesInPhp('eval', 'predis'),
  ...(process.env['PEERS'] === 'newest'
    ? [
        laravelOf('sid', '13', 'phpredis', 'shop_database_shop_cache'),
        laravelOf('sid', '13', 'predis', 'shop_database_shop_cache'),
        symfony('write', 'sid', '7.4'),
        symfony('write', 'sid', '7.4', 'predis'),
      ]
    : []),
];

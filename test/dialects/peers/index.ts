import { drivenPeer } from './driven-peer.js';
import { goPeers } from './go.js';
import { nodePeers } from './node-peers.js';
import type { Peer } from './peer.js';
import { pythonPeers } from './python.js';
import { redissonPeers } from './redisson.js';
import { shedLockPeer } from './shedlock.js';
import { springPeers } from './spring.js';
import { textbook } from './textbook.js';

export { redsync } from './go.js';
export { pottery, pythonRedisLock, textbookIn, textbookInPython } from './python.js';

/** redlock 5 in processes of its own. */
export const redlockProcess = drivenPeer({
  name: 'redlock 5, each a process',
  dialect: 'redlock',
  shortest: 50,
  programs: [process.execPath],
  probe: ['--version'],
  script: 'redlock.mjs',
  remedy: 'npm ci',
});

/** Laravel's own store, as its configuration makes it. */
export const laravel = drivenPeer({
  name: 'Laravel 8, by its RedisManager and RedisStore',
  dialect: { name: 'laravel', prefix: 'shop_database_shop_cache:' },
  shortest: 1_000,
  programs: ['php'],
  probe: [
    '-r',
    "exit(class_exists('Redis') && is_file('/usr/share/php/Illuminate/Cache/autoload.php') && is_file('/usr/share/php/Illuminate/Redis/autoload.php') ? 0 : 1);",
  ],
  script: 'laravel.php',
  remedy: 'apt-get install php-cli php-redis php-illuminate-cache php-illuminate-redis',
});

/** symfony/lock, as a writer or a reader. */
export function symfony(mode: 'read' | 'write'): Peer {
  return drivenPeer({
    name: `symfony/lock (${mode})`,
    dialect: 'symfony',
    shortest: 50,
    programs: ['php'],
    probe: [
      '-r',
      "exit(class_exists('Redis') && is_file('/usr/share/php/Symfony/Component/Lock/autoload.php') ? 0 : 1);",
    ],
    script: 'symfony.php',
    args: [mode],
    remedy: 'apt-get install php-cli php-redis php-symfony-lock',
  });
}

/** Every other library that the tests share locks with. */
export const peers: readonly Peer[] = [
  ...nodePeers,
  laravel,
  symfony('write'),
  textbook('s', 'commands'),
  textbook('s', 'script'),
  textbook('ms', 'commands'),
  textbook('ms', 'script'),
  ...pythonPeers,
  ...goPeers,
  ...redissonPeers,
  ...springPeers,
  shedLockPeer,
];

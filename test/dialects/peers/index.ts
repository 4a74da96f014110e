import { drivenPeer } from './driven-peer.js';
import { nodePeers } from './node-peers.js';
import type { Peer } from './peer.js';
import { redissonPeers } from './redisson.js';
import { shedLockPeer } from './shedlock.js';
import { springPeers } from './spring.js';
import { textbook } from './textbook.js';

const PYTHON = ['python3', '/usr/bin/python3'];

/** The client of the SETNX articles in Python; with `prefix` it reads what a text begins with, `slow` it takes its time before GETSET. */
export function textbookIn(unit: 's' | 'ms' | 'float', ...more: ('prefix' | 'slow')[]): Peer {
  return drivenPeer({
    name: ['a client of the articles in Python, in', unit, ...more].join(' '),
    dialect: { name: 'timestamp', unit, protocol: 'commands', suffix: '_lock' },
    shortest: 50,
    programs: PYTHON,
    probe: ['-c', 'import redis'],
    script: 'textbook.py',
    args: [unit, ...more],
    remedy: 'apt-get install python3-redis',
  });
}

export const textbookInPython = textbookIn('float');

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

/** python-redis-lock, whose waiters are woken by a list. */
export const pythonRedisLock = drivenPeer({
  name: 'python-redis-lock, by its source',
  dialect: 'python-redis-lock',
  shortest: 1_000,
  waits: true,
  programs: PYTHON,
  probe: ['-c', 'import redis'],
  script: 'redis_lock.py',
  remedy: 'apt-get install python3-redis',
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
  drivenPeer({
    name: 'redis-py',
    dialect: 'redis-py',
    shortest: 50,
    programs: PYTHON,
    probe: ['-c', 'import redis'],
    script: 'redis_py.py',
    remedy: 'apt-get install python3-redis',
  }),
  laravel,
  symfony('write'),
  textbook('s', 'commands'),
  textbook('s', 'script'),
  textbook('ms', 'commands'),
  textbook('ms', 'script'),
  textbookInPython,
  pythonRedisLock,
  ...redissonPeers,
  ...springPeers,
  shedLockPeer,
];

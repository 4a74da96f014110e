import { drivenPeer } from './driven-peer.js';
import { nodePeers } from './node-peers.js';
import type { Peer } from './peer.js';

const PYTHON = ['python3', '/usr/bin/python3'];

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
  drivenPeer({
    name: 'Laravel',
    dialect: 'laravel',
    shortest: 1_000,
    programs: ['php'],
    probe: [
      '-r',
      "exit(class_exists('Redis') && is_file('/usr/share/php/Illuminate/Cache/autoload.php') ? 0 : 1);",
    ],
    script: 'laravel.php',
    remedy: 'apt-get install php-cli php-redis php-illuminate-cache',
  }),
];

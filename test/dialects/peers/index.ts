import { drivenPeer } from './driven-peer.js';
import { goPeers } from './go.js';
import { nodePeers } from './node-peers.js';
import type { Peer } from './peer.js';
import { phpPeers } from './php.js';
import { pythonPeers } from './python.js';
import { redissonPeers } from './redisson.js';
import { shedLockPeer } from './shedlock.js';
import { springPeers } from './spring.js';
import { textbook } from './textbook.js';

export { redsync } from './go.js';
export { laravel, symfony } from './php.js';
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

/** Every other library that the tests share locks with. */
export const peers: readonly Peer[] = [
  ...nodePeers,
  textbook('s', 'commands'),
  textbook('s', 'script'),
  textbook('ms', 'commands'),
  textbook('ms', 'script'),
  ...phpPeers,
  ...pythonPeers,
  ...goPeers,
  ...redissonPeers,
  ...springPeers,
  shedLockPeer,
];

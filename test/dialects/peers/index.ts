import { cppPeers } from './cpp.js';
import { goPeers } from './go.js';
import { jvmPeers } from './jvm.js';
import { nodePeers } from './node.js';
import type { Peer } from './peer.js';
import { phpPeers } from './php.js';
import { pythonPeers } from './python.js';
import { redissonPeers } from './redisson.js';
import { shedLockPeer } from './shedlock.js';
import { springPeers } from './spring.js';
import { textbook } from './textbook.js';

export { articlesInCpp } from './cpp.js';
export { redsync } from './go.js';
export { nodePeers, redlock5, redlocks } from './node.js';
export { articlesInPhp, laravel, symfony } from './php.js';
export { pottery, pythonRedisLock, textbookIn, textbookInPython } from './python.js';

/** Every other library that the tests share locks with. */
export const peers = {
  node: nodePeers,
  articles: [
    textbook('s', 'commands'),
    textbook('s', 'script'),
    textbook('ms', 'commands'),
    textbook('ms', 'script'),
  ],
  php: phpPeers,
  python: pythonPeers,
  go: goPeers,
  cpp: cppPeers,
  ...jvmPeers,
  /** Written here from their sources, for a machine without a JVM. */
  sources: [...redissonPeers, ...springPeers, shedLockPeer],
} satisfies Readonly<Record<string, readonly Peer[]>>;

import { existsSync } from 'node:fs';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import { type DrivenPeer, drivenPeer } from './driven-peer.js';

const PROJECT = 'test/dialects/peers/node';

/** A library, each client of which is a process. */
function node(name: string, dialect: LockDialect, prepare?: () => string | undefined): DrivenPeer {
  return drivenPeer({
    name,
    dialect,
    shortest: 50,
    waits: true,
    prepare,
    program: process.execPath,
    script: 'node.mjs',
    args: [name],
  });
}

/** For those that bring a Nest, a client or a version of Node of their own. */
function installed(): string | undefined {
  return existsSync(`${PROJECT}/node_modules`)
    ? undefined
    : `it is not installed (npm ci in ${PROJECT})`;
}

export const redlock5 = node('redlock 5', 'redlock');

/** For one server or several. */
export const redlocks: readonly DrivenPeer[] = [
  redlock5,
  node('redlock 4', 'redlock'),
  node('redis-semaphore', 'redis-semaphore'),
  node('redlock-universal', 'redlock-universal', installed),
  node('nestjs-redlock-universal', 'redlock-universal', installed),
  node('@nestjs-redis/lock', 'redlock', installed),
];

export const nodePeers: readonly DrivenPeer[] = [
  ...redlocks,
  node('nestjs-simple-redis-lock', { name: 'plain', prefix: 'lock:' }, installed),
  node('murlock', 'murlock', installed),
  node('@verrou/core', 'verrou'),
  node('@microfleet/ioredis-lock', 'ioredis-lock'),
];

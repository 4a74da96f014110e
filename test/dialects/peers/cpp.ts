import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { drivenPeer } from './driven-peer.js';
import { madeOnce, prepared, run } from './made-once.js';
import type { Peer } from './peer.js';

const SOURCE = 'test/dialects/peers/cpp/articles.cpp';
const PROGRAM = resolve('.cache/peers/cpp/articles');

function prepare(): string | undefined {
  const hasHiredis = existsSync('/usr/include/hiredis/hiredis.h');
  if (!hasHiredis || spawnSync('g++', ['--version']).status !== 0) {
    return 'g++ or hiredis is not here (apt-get install g++ libhiredis-dev)';
  }
  return prepared('the program in C++', () =>
    madeOnce('cpp', [SOURCE], () => {
      run('g++', ['-std=c++17', '-Wall', '-Werror', '-o', PROGRAM, SOURCE, '-lhiredis']);
    }),
  );
}

/** The locks of the articles in C++, on hiredis. */
export function articlesInCpp(kind: 'setnx' | 'eval'): Peer {
  return drivenPeer({
    name: `a client of the articles in C++, ${kind.toUpperCase()}`,
    dialect:
      kind === 'eval'
        ? 'plain'
        : { name: 'timestamp', unit: 's', protocol: 'commands', suffix: '_lock' },
    shortest: kind === 'eval' ? 50 : 1_000,
    prepare,
    program: PROGRAM,
    args: [kind],
  });
}

export const cppPeers: readonly Peer[] = [articlesInCpp('setnx'), articlesInCpp('eval')];

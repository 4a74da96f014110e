import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { drivenPeer } from './driven-peer.js';
import { madeOnce, prepared, run } from './made-once.js';
import type { Peer } from './peer.js';

const HERE = 'test/dialects/peers/go';
const PROGRAM = resolve('.cache/peers/go/peer');
/** Nothing but what go.mod names, and no other Go than the one that is here. */
const ENV = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false' };

function prepare(): string | undefined {
  const [, minor = 0] = /go1\.(\d+)/.exec(spawnSync('go', ['version']).stdout?.toString()) ?? [];
  if (Number(minor) < 26) return 'Go 1.26 is not here';
  return prepared('the libraries of Go', () =>
    madeOnce(
      'go',
      ['go.mod', 'go.sum', 'main.go'].map((each) => join(HERE, each)),
      () => {
        run('go', ['build', '-o', PROGRAM, '.'], { cwd: HERE, env: ENV });
      },
    ),
  );
}

/** The real libraries, of the versions in go.mod. */
function go(name: 'redsync' | 'bsm/redislock'): Peer {
  return drivenPeer({
    name,
    dialect: name,
    shortest: 50,
    prepare,
    program: PROGRAM,
    args: [name],
  });
}

/** For one server or several. */
export const redsync = go('redsync');

export const goPeers: readonly Peer[] = [redsync, go('bsm/redislock')];

import { resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import { drivenPeer } from './driven-peer.js';
import { madeOnce, prepared, run } from './made-once.js';
import type { Peer } from './peer.js';

const HERE = 'test/dialects/peers/python';
const PYTHON = resolve('.cache/peers/python/bin/python');
/** What they all run on, and the oldest that tooz does. */
const PROBE = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

interface Library {
  readonly name: string;
  readonly dialect: LockDialect;
  /** The shortest lease it can take, in ms. */
  readonly shortest: number;
  readonly script: string;
  readonly args?: readonly string[];
  readonly waits?: boolean;
}

/** The real libraries, of the versions in requirements.txt. */
function python(library: Library): Peer {
  return drivenPeer({
    ...library,
    prepare,
    program: PYTHON,
    script: `python/${library.script}`,
  });
}

function prepare(): string | undefined {
  const base = ['python3', '/usr/bin/python3'].find(
    (each) => spawnSync(each, ['-c', PROBE]).status === 0,
  );
  if (base === undefined) return 'Python 3.11 is not here (apt-get install python3-venv)';
  const requirements = `${HERE}/requirements.txt`;
  return prepared('the libraries of Python', () =>
    madeOnce('python', [requirements], (folder) => {
      run(base, ['-m', 'venv', folder]);
      run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements]);
    }),
  );
}

/** The client of the SETNX articles in Python; with `prefix` it reads what a text begins with, `slow` it takes its time before GETSET. */
export function textbookIn(unit: 's' | 'ms' | 'float', ...more: ('prefix' | 'slow')[]): Peer {
  return python({
    name: ['a client of the articles in Python, in', unit, ...more].join(' '),
    dialect: { name: 'timestamp', unit, protocol: 'commands', suffix: '_lock' },
    shortest: 50,
    script: 'textbook.py',
    args: [unit, ...more],
  });
}

export const textbookInPython = textbookIn('float');

/** python-redis-lock, whose waiters are woken by a list. */
export const pythonRedisLock = python({
  name: 'python-redis-lock',
  dialect: 'python-redis-lock',
  shortest: 1_000,
  waits: true,
  script: 'python_redis_lock.py',
});

/** pottery's Redlock, for one server or several. */
export const pottery = python({
  name: 'pottery',
  dialect: 'pottery',
  shortest: 50,
  script: 'pottery_lock.py',
});

export const pythonPeers: readonly Peer[] = [
  textbookInPython,
  python({ name: 'redis-py', dialect: 'redis-py', shortest: 50, script: 'redis_py.py' }),
  python({
    name: 'django-redis',
    dialect: { name: 'plain', prefix: 'shop:1:' },
    shortest: 50,
    script: 'redis_py.py',
    args: ['django'],
  }),
  python({
    name: 'tooz',
    dialect: { name: 'plain', prefix: '_tooz_', suffix: '_lock' },
    shortest: 1_000,
    script: 'tooz_lock.py',
  }),
  pythonRedisLock,
  pottery,
];

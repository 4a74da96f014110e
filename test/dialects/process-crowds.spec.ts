import { it } from '@jest/globals';
import type { RedisLockOptions } from '../../lib/index.js';
import { Worker } from '../support/worker.js';
import { eachOf, thoseHere } from './both-ways.js';
import { Crowd } from './crowd.js';
import {
  articlesInCpp,
  articlesInPhp,
  laravel,
  redlock5,
  redsync,
  textbookIn,
} from './peers/index.js';
import type { Peer } from './peers/peer.js';
import { Sides } from './sides.js';

const ROUND = process.env['FULL'] ? 15_000 : 4_000;
/** Of a client of theirs, in ms. */
const LEASE = 1_000;

interface Mixture {
  readonly peer: Peer;
  readonly ours: Omit<RedisLockOptions, 'redis'>;
  /** What a client of the articles wrote that had the lock until some seconds ago, and crashed; undefined where Redis ends locks. */
  readonly past?: () => string;
}

const past = {
  s: (): string => String(Math.floor(Date.now() / 1_000) - 5),
  ms: (): string => String(Date.now() - 5_000),
  float: (): string => String(Date.now() / 1_000 - 5),
};

/** Beside clients of the articles; a native lock is for those that read what a text begins with. */
function articles(unit: keyof typeof past, dialect?: RedisLockOptions['dialect']): Mixture {
  const peer = dialect ? textbookIn(unit, 'slow') : textbookIn(unit, 'prefix', 'slow');
  const ours = dialect ? { dialect } : ({ keyPrefix: '', guard: 'timestamp' } as const);
  return { peer, ours, past: past[unit] };
}

const commands = { name: 'timestamp', protocol: 'commands', suffix: '_lock' } as const;
const script = { name: 'timestamp', protocol: 'script', suffix: '_lock' } as const;
const guarded = { name: 'plain', guard: 'timestamp', suffix: '_lock' } as const;

const quick: Readonly<Record<string, Mixture>> = {
  'timestamp with a fraction': articles('float', { ...commands, unit: 'float' }),
  'plain with a guard, in s': articles('s', guarded),
  'native with a guard, in ms': articles('ms'),
};
const others: Readonly<Record<string, Mixture>> = {
  'timestamp in s': articles('s', { ...commands, unit: 's' }),
  'timestamp in ms': articles('ms', { ...commands, unit: 'ms' }),
  'timestamp by a script': articles('ms', { ...script, unit: 'ms' }),
  'plain with a guard, with a fraction': articles('float', guarded),
  'native with a guard, in s': articles('s'),
  'native with a guard, in PHP': {
    peer: articlesInPhp('setnx', 'phpredis'),
    ours: { keyPrefix: '', guard: 'timestamp' },
    past: past.s,
  },
  'plain with a guard, in C++': {
    peer: articlesInCpp('setnx'),
    ours: { dialect: guarded },
    past: past.s,
  },
  redsync: { peer: redsync, ours: { dialect: 'redsync' } },
  Laravel: { peer: laravel, ours: { dialect: laravel.dialect } },
  'redlock 5': { peer: redlock5, ours: { dialect: 'redlock' } },
};
const mixtures = Object.entries({ ...quick, ...(process.env['FULL'] && others) }).map(
  ([name, mixture]) => ({ ...mixture, name, missing: mixture.peer.missing }),
);

const sides = new Sides();

const here = thoseHere(mixtures);

it(
  'three processes of ours and three of theirs never hold a lock at the same time, and none loses a lease',
  () =>
    eachOf(here, async ({ peer, ours, past: crashed }, nth) => {
      const name = `crowd${nth}`;
      const key = 'dialect' in ours ? name : `${name}_lock`; // a native lock has no suffix
      const workers = await Worker.startMany(3, { ...ours, redis: sides.redis.url });
      for (const worker of workers) sides.closing(worker, (one) => one.kill());
      const clients = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
      const crash = crashed && (() => sides.theirs.set(`${name}_lock`, crashed()));
      const crowd = new Crowd(sides.theirs, ROUND, { lease: LEASE, key });
      await Promise.all([
        ...workers.map((worker) => crowd.process(worker, key)),
        ...clients.map((client) => crowd.theirs(client, name, crash)),
      ]);
      await crowd.check();
      await Promise.all(workers.map((one) => one.kill()));
    }),
  240_000,
);

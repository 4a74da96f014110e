import type { RedisLockOptions } from '../../lib/index.js';
import {
  articlesInCpp,
  articlesInPhp,
  laravel,
  redlock5,
  redsync,
  textbookIn,
} from './peers/index.js';
import type { Peer } from './peers/peer.js';

/** Clients of theirs beside locks of ours that keep off what they hold. */
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
export const mixtures = Object.entries({ ...quick, ...(process.env['FULL'] && others) }).map(
  ([name, mixture]) => ({ ...mixture, name, missing: mixture.peer.missing }),
);

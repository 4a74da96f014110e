import { expect } from '@jest/globals';
import { scripts as plain } from '../../lib/engine/locks/dialects/plain/plain.js';
import { scripts as pythonRedisLock } from '../../lib/engine/locks/dialects/python-redis-lock/python-redis-lock.js';
import { scripts as redisson } from '../../lib/engine/locks/dialects/redisson/redisson.js';
import { scripts as symfony } from '../../lib/engine/locks/dialects/symfony/symfony.js';
import { scripts as timestamp } from '../../lib/engine/locks/dialects/timestamp/timestamp.js';
import { lockFormat, type LockDialect } from '../../lib/engine/options/index.js';
import { majorVersion } from '../../tools/redis-server.js';
import { samples } from '../dialects/samples.js';
import { textOf } from './pages.js';

type Scripts = Readonly<Record<string, { readonly source: string }>>;

export const page = textOf('docs/operations.md');
export const LISTED = /^redis-cli ACL SETUSER locks on '>password' ([^]*?)```/m
  .exec(page)![1]!
  .replaceAll(/'|\\$/gm, '')
  .trim()
  .split(/\s+/);
export const OF_OTHERS = /^redis-cli ACL SETUSER other on '>password' (.*)$/m
  .exec(page)![1]!
  .replaceAll("'", '')
  .split(' ');
export const MORE_IN_A_CLUSTER = ['+cluster|slots', '+asking'];
/** By format: the scripts of a dialect, and what it sends by a name that no script says. */
export const formats: Readonly<Record<string, readonly [Scripts, ...sent: string[]]>> = {
  plain: [plain],
  redisson: [redisson, '+spublish'],
  spring: [plain],
  symfony: [symfony],
  timestamp: [timestamp],
  'python-redis-lock': [pythonRedisLock],
};
/** The rows of its table of dialects: a name, and what else that one needs. */
const IN_DIALECTS = /^\| dialect \| more rights \|$([^]*?)^$/m.exec(page)![1]!;

/** What Operations lists for a dialect's format. */
export function listedFor(format: string): string[] {
  const rows = [...IN_DIALECTS.matchAll(/^\| `([\w-]+)`[^|]*\|(.*)\|$/gm)];
  expect(rows.map(([, name]) => name)).toContain(format);
  return rows
    .filter(([, name]) => name === format)
    .flatMap(([, , cell]) => [...cell!.matchAll(/`([^`]+)`/g)])
    .flatMap(([, rights]) => rights!.split(' '));
}

/** Those that a server has: sharded channels came with Redis 7. */
export const spoken = samples.filter((dialect) => majorVersion() >= 7 || !isSharded(dialect));

function isSharded(dialect: LockDialect): boolean {
  return typeof dialect === 'object' && 'sharded' in dialect && dialect.sharded === true;
}

/** What the README lists for this way of speaking a dialect. */
export function neededBy(dialect: LockDialect): string[] {
  const { family, prefix } = lockFormat(dialect);
  return listedFor(family)
    .filter((right) => right !== '+spublish' || isSharded(dialect))
    .map((right) => right.replace('<registry>', prefix.slice(0, -1)));
}

/** The commands that scripts use, as rights. */
export function usedBy(scripts: Scripts): string[] {
  const text = Object.values(scripts).map(({ source }) => source);
  const calls = text.join('\n').matchAll(/redis\.p?call\('(\w+)'/g);
  return [...calls].map(([, command]) => `+${command!.toLowerCase()}`);
}

export function isCommand(right: string): boolean {
  return right.startsWith('+');
}

/** The keys of a dialect's locks, as Operations names them; of those alone that these tests use. */
export function keysOf(prefix: string): string[] {
  const [, patterns] = /beside them: `([^`]+)`/.exec(page)!;
  const locks = ['least', 'kept'].flatMap((name) =>
    patterns!.replaceAll('<prefix>', prefix + name).split(' '),
  );
  return [...locks, `~${prefix}{*}:fence`, `~${prefix}{}:health`];
}

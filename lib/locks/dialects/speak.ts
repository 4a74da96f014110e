import type { DialectSettings } from '../../options/index.js';
import type { Dialect } from './dialect-format.js';
import { plain } from './plain/plain.js';
import { pythonRedisLock } from './python-redis-lock/python-redis-lock.js';
import { redisson } from './redisson/redisson.js';
import { spring } from './spring/spring.js';
import { symfony } from './symfony/symfony.js';
import { timestamp } from './timestamp/timestamp.js';

const SPEAKERS: Readonly<
  Record<DialectSettings['format'], (settings: DialectSettings, clientPrefix: string) => Dialect>
> = {
  plain,
  timestamp,
  redisson,
  symfony: () => symfony,
  spring,
  'python-redis-lock': pythonRedisLock,
};

/** The format that a dialect stands for, where the client puts a prefix before every key. */
export function speak(settings: DialectSettings, clientPrefix: string): Dialect {
  return SPEAKERS[settings.format](settings, clientPrefix);
}

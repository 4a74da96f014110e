import type { DialectSettings } from '../../options/index.js';
import type { Dialect } from './dialect-format.js';
import { plain } from './plain/plain.js';
import { redisson } from './redisson/redisson.js';
import { symfony } from './symfony/symfony.js';
import { timestamp } from './timestamp/timestamp.js';

const SPEAKERS: Readonly<
  Record<DialectSettings['format'], (settings: DialectSettings) => Dialect>
> = {
  plain,
  timestamp,
  redisson,
  symfony: () => symfony,
};

/** The format that a dialect stands for. */
export function speak(settings: DialectSettings): Dialect {
  return SPEAKERS[settings.format](settings);
}

import type { DialectFormat, DialectSettings } from '../../options/index.js';
import type { Dialect } from './dialect-format.js';
import { plain } from './plain/plain.js';

const SPEAKERS: Readonly<Record<DialectFormat, (settings: DialectSettings) => Dialect>> = {
  plain: () => plain,
};

/** The format that a dialect stands for. */
export function speak(settings: DialectSettings): Dialect {
  return SPEAKERS[settings.format](settings);
}

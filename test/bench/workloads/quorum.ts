import { AT_ONCE } from './uncontended.js';
import type { TurnsWorkload } from './workload.js';

const FIVE = {
  kind: 'turns',
  processes: 1,
  callers: 16,
  section: 0,
  think: 0,
  servers: 5,
} as const;

/** Five independent servers vote: on locks that nobody else wants, on one that all want, while two stand still, and in a fresh process. */
export const quorum: TurnsWorkload[] = [
  { ...FIVE, name: 'quorum of 5, uncontended, 16 at a time', contended: false },
  { ...FIVE, name: 'quorum of 5, hot key × 16 callers', contended: true },
  {
    ...FIVE,
    name: 'quorum of 5, two hanging, one at a time',
    callers: 1,
    contended: false,
    hanging: 2,
  },
  ...AT_ONCE.map((callers): TurnsWorkload => ({
    ...FIVE,
    name: `quorum of 5, ${callers} at a time, new keys, a fresh process, 250 ms`,
    callers,
    contended: false,
    newKeys: true,
    cold: 250,
    ...(callers < 256 && { thorough: true }),
  })),
];

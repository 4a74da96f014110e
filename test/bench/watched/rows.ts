import type { WATCHERS } from '../builds/watchers.js';
import type { Work } from '../builds/work.js';

/**
 * What the others are compared with: the library with its events taken out, with them while nobody listens, and in an
 * application that is traced and whose locks are not.
 */
export const REFERENCES = {
  bare: 'without events',
  quiet: 'nobody listens',
  traced: 'opentelemetry alone, locks not watched',
} as const;

/** Who may watch, and what that is among the watchers of builds. */
export const LISTENERS: Readonly<Record<string, keyof typeof WATCHERS>> = {
  'a subscriber': 'subscriber',
  prometheus: 'prometheus',
  'opentelemetry metrics': 'metrics',
  [REFERENCES.traced]: 'sdk',
  'opentelemetry traces': 'traces',
};

/** The work while locks are watched; Redis is real, so that what is watched is what an application has. */
export const WATCHED: readonly Work[] = [
  { name: 'watched, 1 at a time, new keys', width: 1, cycles: 1_000, keys: 'new' },
  { name: 'watched, 16 at a time, new keys', width: 16, cycles: 4_000, keys: 'new' },
  { name: 'watched, 256 at a time, new keys', width: 256, cycles: 8_000, keys: 'new' },
];

/** What a section costs while somebody watches: time in µs, and how many times what it costs by the references. */
export interface Watching {
  readonly name: string;
  readonly client: number;
  readonly server: number;
  /** By the wall, each section its share of the round: what a service sees of it. Other figures are of processors. */
  readonly wall?: number;
  /** Of the client, as medians over the rounds. */
  readonly ratios: Readonly<Record<keyof typeof REFERENCES, number>>;
  /** By the wall. */
  readonly wallRatio?: number;
}

export interface Watched {
  readonly name: string;
  readonly costs: readonly Watching[];
}

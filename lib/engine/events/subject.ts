import type { Share } from '../options/index.js';
import type { Hold } from './hold.js';
import { keyLabels } from './key-labels.js';
import type { LockTopology } from './lock-event.js';

/** The module of which events tell. */
export interface Origin {
  readonly topology: LockTopology;
  readonly module: string | undefined;
}

/** The settings of a call that matter to events. */
export interface Wanted {
  readonly name: string | undefined;
  readonly label: string | undefined;
  readonly share: Share | undefined;
  /** A call that waits, or a hold that lasts, longer than this is reported; in ms. */
  readonly slowWait: number;
  readonly slowHold: number;
  /** No event tells of holds by this call. */
  readonly untold?: true;
}

/** The parts of a held lease of which events are made. */
export interface Held {
  readonly request: { readonly key: string };
  readonly settings: Wanted;
  readonly fencingToken: number | undefined;
  /** When the hold began, in monotonic ms. */
  readonly since: number;
  /** What was told of it; undefined until then. */
  trace: Hold | undefined;
}

/** The name of a lock that nobody gave one. */
export const UNNAMED = '(unnamed)';

/** The name of keys that nobody named. */
export function nameOf(asked: string | readonly string[]): string {
  if (typeof asked !== 'string') return [...new Set(asked.map(nameOf))].join(', ');
  return keyLabels.of(asked) ?? UNNAMED;
}

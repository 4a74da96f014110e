import { isReader, type Share } from '../options/index.js';
import type { Hold } from './hold.js';
import { keyLabels } from './key-labels.js';
import type { LockSubject, LockTopology } from './lock-event.js';

/** Of which module the events are. */
export interface Origin {
  readonly topology: LockTopology;
  readonly module: string | undefined;
}

/** How a lock is asked for, as far as events say it. */
export interface Wanted {
  readonly name: string | undefined;
  readonly share: Share | undefined;
  /** What took longer than this, in ms, is reported. */
  readonly slowWait: number;
  readonly slowHold: number;
  /** No event tells what is held for this. */
  readonly untold?: true;
}

/** What of a hold events are made of. */
export interface Held {
  readonly request: { readonly key: string };
  readonly settings: Wanted;
  readonly fencingToken: number | undefined;
  /** In monotonic ms. */
  readonly since: number;
  readonly trace: Hold | undefined;
  tracedAs(trace: Hold): void;
}

/** The name of a lock that nobody gave one. */
export const UNNAMED = '(unnamed)';

/** What events say of a lock, or of several together. */
export function subjectOf(
  { topology, module }: Origin,
  asked: string | readonly string[],
  { name, share }: Wanted,
): LockSubject {
  const mode = !share ? 'exclusive' : isReader(share) ? 'shared' : 'permit';
  const key = typeof asked === 'string' ? asked : asked.join(', ');
  return { name: name ?? labelOf(asked), key, mode, topology, module };
}

/** Of what nobody named. */
function labelOf(asked: string | readonly string[]): string {
  if (typeof asked !== 'string') return [...new Set(asked.map(labelOf))].join(', ');
  return keyLabels.of(asked) ?? UNNAMED;
}

import { openSync, readFileSync, writeSync } from 'node:fs';
import type { Claimed } from '../support/history.js';
import type { Pause } from './attention.js';
import type { Failure } from './failures.js';
import type { Await, Signal } from './signals.js';

/** What a process writes down at once: who is killed says nothing more. */
export interface Entries {
  /** Of each lease: what is certain at its begin and as it is renewed, and what came of it. */
  claim: Claimed;
  /** Of each signal, and of each who awaits one: what is certain at its begin, and what came of it. */
  signal: Signal;
  await: Await;
  /** An optimistic read. */
  stamp: StampWindow;
  /** A text of a lease that was handed over, by whom it was restored. */
  restored: { readonly text: string };
  /** Who holds a lock, as its lease still says, was refused where its token guards a resource: another has come after it. */
  refused: { readonly what: string };
  paused: Pause;
  failed: Failure;
  /** A call that took longer than it may, or an error that it may not end in. */
  trouble: { readonly what: string };
}

/** Between these moments nobody wrote, if `valid`. */
export interface StampWindow {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly valid: boolean;
}

export type Note = <Kind extends keyof Entries>(kind: Kind, entry: Entries[Kind]) => void;

/** Where a process notes things; a line is whole or not there. */
export function journalTo(file: string): Note {
  const open = openSync(file, 'a');
  return (kind, entry) => void writeSync(open, `${JSON.stringify([kind, entry])}\n`);
}

/** What one process noted, of one kind. */
export function notesIn<Kind extends keyof Entries>(file: string, kind: Kind): Entries[Kind][] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as [keyof Entries, unknown])
    .filter(([noted]) => noted === kind)
    .map(([, entry]) => entry as Entries[Kind]);
}

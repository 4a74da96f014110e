import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Claimed,
  overlaps,
  queueJumps,
  staleInRealTime,
  unsignalled,
} from '../support/history.js';
import type { Crowd } from './crowd.js';
import { type Circumstances, unexplained } from './failures.js';
import { type Entries, notesIn, type StampWindow } from './journal.js';
import { type Await, conditionEvents, lostSignals, type Signal } from './signals.js';

/** How far tokens may be ahead of the server's clock, in ms, and a little more. */
const TOKEN_LEAD = 150;

/** What is promised of a history. */
export interface Promises {
  /** No two hold a lock that one may hold; else only their tokens are told apart. */
  readonly held: boolean;
  /** Who came first is served first: in strict order, where nothing but processes fails. */
  readonly inOrder: boolean;
  /** No answer and no data is lost, and none counts for nothing: nobody wakes without a signal. */
  readonly signalled: boolean;
  /** What calls may fail for. */
  readonly circumstances: Circumstances;
}

/** What the processes noted. */
export class Evidence {
  readonly claims: readonly Claimed[];

  constructor(
    private readonly folder: string,
    private readonly crowd: Crowd,
    /** The shortest that was asked for, in ms. */
    private readonly shortestLease: number,
  ) {
    this.claims = crowd.names.flatMap((name) => this.#claimsOf(name));
  }

  /** Empty if nothing is wrong; each begins with the name of the check. */
  violations({ held, inOrder, signalled, circumstances }: Promises): string[] {
    const found: [check: string, what: readonly string[]][] = [];
    for (const key of new Set(this.claims.map((claim) => claim.key))) {
      const claims = this.claims.filter((claim) => claim.key === key);
      const inTurn = claims.sort((a, b) => a.from - b.from || a.to - b.to);
      if (held) found.push(['overlap', overlaps(inTurn)]);
      // Who does not know of its loss hands on what it has, and readers have a version that stood before what was lost. A server
      // that forgot begins at its clock, which tokens may lead.
      const stale = held
        ? staleInRealTime(inTurn)
        : staleInRealTime(
            inTurn.filter(({ passed, beside }) => !passed && beside === undefined),
            TOKEN_LEAD,
          );
      found.push(['token', stale]);
      if (inOrder) found.push(['order', queueJumps(inOrderOfGrants(inTurn), TOKEN_LEAD)]);
    }
    if (held) found.push(['stamp', this.#brokenStamps()]);
    if (held) found.push(['guarded read', this.#notes('refused').map(({ what }) => what)]);
    if (signalled) {
      const [signals, awaits] = [this.#signals(), this.#awaits()];
      found.push(['condition', unsignalled(conditionEvents(signals, awaits))]);
      found.push(['lost signal', lostSignals(signals, awaits)]);
    }
    found.push(['failure', this.#unexplained(circumstances)]);
    if (held) found.push(['hand-over', this.#restoredTwice()]); // a server that forgot a restore lets another succeed
    found.push(['trouble', this.#notes('trouble').map(({ what }) => what)]);
    return found.flatMap(([check, all]) => all.map((what) => `${check}: ${what}`));
  }

  #claimsOf(name: string): Claimed[] {
    const byGrant = new Map<string, Claimed>();
    const died = this.crowd.killed.get(name) ?? Infinity;
    const pauses = this.#notesOf(name, 'paused').filter(({ ms }) => ms > this.shortestLease / 2);
    for (const claim of this.#notesOf(name, 'claim')) {
      const { key, holder, process, asked = -Infinity, from } = claim;
      // Who queued while nothing ran may have been granted the lock and have lost it again before it knew.
      const lapsed = pauses.some(({ at, ms }) => asked < at && from > at - ms);
      byGrant.set(`${process} ${key} ${holder} ${from}`, {
        ...claim,
        ...(lapsed && { arrival: undefined, atOnce: false }),
        beside: claim.beside === null ? Infinity : claim.beside, // as JSON has it
        to: Math.min(claim.to, died),
      });
    }
    // Who was stopped between the grant and its first look at the clock held nothing when it went on.
    return [...byGrant.values()].filter(({ from, to }) => to > from);
  }

  /** Optimistic reads that counted although somebody held the lock alone meanwhile. */
  #brokenStamps(): string[] {
    const alone = this.claims.filter(({ beside }) => beside === undefined);
    const keys = [...new Set(alone.map(({ key }) => key))];
    const byKey = new Map(keys.map((key) => [key, alone.filter((claim) => claim.key === key)]));
    const broken = ({ key, from, to, valid }: StampWindow): Claimed | undefined =>
      valid ? byKey.get(key)?.find((claim) => claim.from < to && claim.to > from) : undefined;
    return this.#notes('stamp').flatMap((read) => {
      const by = broken(read);
      return by ? [`${read.key} was read although ${by.holder} held it`] : [];
    });
  }

  #signals(): Signal[] {
    return this.crowd.names.flatMap((name) => latest(this.#notesOf(name, 'signal')));
  }

  /** Who was stopped while it awaited may have got the lock too late, and counts as signalled then. Stopped again, it may pass that on. */
  #awaits(): Await[] {
    return this.crowd.names.flatMap((name) =>
      latest(this.#notesOf(name, 'await')).map((each) => {
        const at = each.at ?? this.crowd.killed.get(name) ?? Infinity;
        const stops = this.crowd.stopsOf(name, each.from, at);
        const unsure = each.unsure || stops > 0;
        return { ...each, at, unsure, passes: Math.max(0, stops - 1) };
      }),
    );
  }

  /** What failed, and nothing explains. */
  #unexplained({ pauses, ...others }: Circumstances): readonly string[] {
    const all = [...pauses, ...this.#notes('paused')];
    return unexplained(this.#notes('failed'), { ...others, pauses: all });
  }

  #restoredTwice(): string[] {
    const texts = this.#notes('restored').map(({ text }) => text);
    const twice = texts.filter((text, at) => texts.indexOf(text) !== at);
    return twice.map(() => 'a lease was restored twice');
  }

  #notes<Kind extends keyof Entries>(kind: Kind): Entries[Kind][] {
    return this.crowd.names.flatMap((name) => this.#notesOf(name, kind));
  }

  #notesOf<Kind extends keyof Entries>(name: string, kind: Kind): Entries[Kind][] {
    const file = join(this.folder, `${name}.journal`);
    return existsSync(file) ? notesIn(file, kind) : [];
  }
}

/** Of what was noted several times, the last. */
function latest<Noted extends { readonly from: number }>(notes: readonly Noted[]): Noted[] {
  return [...new Map(notes.map((note) => [note.from, note])).values()];
}

/** As the server granted them: permits that begin together are told apart by their tokens, as if each were alone. */
function inOrderOfGrants(inTurn: readonly Claimed[]): readonly Claimed[] {
  if (!inTurn.some(({ beside = Infinity }) => beside !== Infinity)) return inTurn;
  return inTurn
    .map((claim) => ({ ...claim, beside: undefined }))
    .sort((a, b) => a.fencingToken - b.fencingToken);
}

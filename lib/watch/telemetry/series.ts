import type { LockSubject } from '../../engine/events/lock-event.js';

/** The most distinct names: each costs memory, here and in the exporter. */
const MOST_NAMES = 500;
/** The common name of further ones. */
const OTHER = '(other)';

/** The labels of a series. */
export type Labelled = Pick<LockSubject, 'name' | 'mode' | 'topology'>;

/** The counts of calls and holds of a series with the same outcome, and the exporter's data for it: its labels. */
export class Outcome<Kept> {
  /** Calls with this outcome. */
  attempts = 0;

  constructor(readonly kept: Kept) {}
}

/** The counts of the locks of one name, mode and topology. */
export class Series<Kept> {
  /** Calls under way: they ask or wait. */
  waiting = 0;
  /** Locks that this process holds now. */
  held = 0;
  lost = 0;
  renewalFailures = 0;
  /** The outcome of calls that got their lease, and of holds that were not lost. */
  readonly success: Outcome<Kept>;
  readonly #outcomes = new Map<string | undefined, Outcome<Kept>>();

  constructor(
    readonly subject: Labelled,
    private readonly makeKept: (subject: Labelled, error?: string) => Kept,
  ) {
    this.success = this.outcome(undefined);
  }

  /** Returns the outcome of an error, or of none: always the same object. */
  outcome(error: string | undefined): Outcome<Kept> {
    let outcome = this.#outcomes.get(error);
    if (!outcome) {
      outcome = new Outcome(this.makeKept(this.subject, error));
      this.#outcomes.set(error, outcome);
    }
    return outcome;
  }

  outcomes(): Iterable<Outcome<Kept>> {
    return this.#outcomes.values();
  }
}

/** All series of a process. */
export class SeriesTable<Kept> {
  readonly #byName = new Map<string, Series<Kept>[]>();

  constructor(private readonly makeKept: (subject: Labelled, error?: string) => Kept) {}

  of({ name, mode, topology }: Labelled): Series<Kept> {
    let all = this.#byName.get(name);
    if (!all) {
      const label = this.#byName.size < MOST_NAMES ? name : OTHER;
      if (label !== name) return this.of({ name: label, mode, topology });
      this.#byName.set(name, (all = []));
    }
    let series = all.find(({ subject }) => subject.mode === mode && subject.topology === topology);
    if (!series) {
      series = new Series({ name, mode, topology }, this.makeKept);
      all.push(series);
    }
    return series;
  }

  *[Symbol.iterator](): Iterator<Series<Kept>> {
    for (const all of this.#byName.values()) yield* all;
  }
}

import type { LockSubject } from '../events/lock-event.js';

/** How many names are told apart: each costs memory, here and where figures are kept. */
const MOST_NAMES = 500;
/** The name of all that come later. */
const OTHER = '(other)';

/** What all figures of one name, mode and topology are labelled with. */
export type Labelled = Pick<LockSubject, 'name' | 'mode' | 'topology'>;

/** What is counted of the locks of one name, mode and topology. */
export class Series<Labels> {
  /** Calls that ask or wait now. */
  waiting = 0;
  /** Locks that this process holds now. */
  held = 0;
  lost = 0;
  renewalFailures = 0;
  /** Calls that ended, by their error; `undefined` for those that got their lease. */
  readonly attempts = new Map<string | undefined, number>();
  readonly #labels = new Map<string | undefined, Labels>();

  constructor(
    readonly subject: Labelled,
    private readonly makeLabels: (subject: Labelled, error?: string) => Labels,
  ) {}

  /** The same object each time. */
  labels(error?: string): Labels {
    let labels = this.#labels.get(error);
    if (labels === undefined) {
      labels = this.makeLabels(this.subject, error);
      this.#labels.set(error, labels);
    }
    return labels;
  }

  count(error: string | undefined): void {
    this.attempts.set(error, (this.attempts.get(error) ?? 0) + 1);
  }
}

/** All series of a process. */
export class SeriesTable<Labels> {
  readonly #byName = new Map<string, Series<Labels>[]>();

  constructor(private readonly makeLabels: (subject: Labelled, error?: string) => Labels) {}

  of({ name, mode, topology }: Labelled): Series<Labels> {
    let all = this.#byName.get(name);
    if (!all) {
      const label = this.#byName.size < MOST_NAMES || name === OTHER ? name : OTHER;
      if (label !== name) return this.of({ name: label, mode, topology });
      this.#byName.set(name, (all = []));
    }
    let series = all.find(({ subject }) => subject.mode === mode && subject.topology === topology);
    if (!series) {
      series = new Series({ name, mode, topology }, this.makeLabels);
      all.push(series);
    }
    return series;
  }

  *[Symbol.iterator](): Iterator<Series<Labels>> {
    for (const all of this.#byName.values()) yield* all;
  }
}

import { LeaseLostError, type LossReason } from '../../engine/errors/index.js';
import {
  type LockSubject,
  type LockTopology,
  Publisher,
  type Reports,
} from '../../engine/events/index.js';
import { type Clock, span } from '../../engine/options/index.js';
import { logger } from './logger.js';

/** The most lines of one kind that are written in each window (ms). Further lines are only counted, and their number is logged. */
const MOST = 5;
const WINDOW = 10_000;

/** Losses that are reported elsewhere: a shutdown names its locks, and a caller that awaits a condition gets an error. */
const TOLD: readonly LossReason[] = ['shutdown', 'awaiting'];

/** Creates the publisher of a module's lock events, for listeners and for the operator's log. */
export function publisherFor(
  topology: LockTopology,
  module: string | undefined,
  clock: Clock,
): Publisher {
  return new Publisher({ topology, module }, clock, operatorLog(clock));
}

/** Logs locks that were lost, waited for or held too long; a flood of lines is cut short. */
export function operatorLog(clock: Clock): Reports {
  const losses = new BoundedLines(clock, 'leases were lost');
  const waits = new BoundedLines(clock, 'calls waited longer than "slowWait"');
  const holds = new BoundedLines(clock, 'locks were held longer than "slowHold"');
  const ends = new BoundedLines(clock, 'of those were given back');
  return {
    lost({ reason, held, ...subject }) {
      if (TOLD.includes(reason)) return;
      const { message } = new LeaseLostError(subject.key, reason);
      const text = `${message} It was held for ${span(held)}${called(subject)}.`;
      losses.write('warn', text, {
        event: 'lost',
        ...fieldsOf(subject),
        held: Math.round(held),
        reason,
      });
    },
    slowWait({ waited = 0, outcome, ...subject }) {
      const how = outcome === 'acquired' ? 'was acquired' : `was not acquired (${outcome})`;
      const text = `Lock "${subject.key}" ${how} after ${span(waited)}${called(subject)}.`;
      const fields = { ...fieldsOf(subject), waited: Math.round(waited), outcome };
      waits.write('warn', text, { event: 'slowWait', ...fields });
    },
    slowHold({ end, ...subject }, held) {
      const fields = { event: 'slowHold', ...fieldsOf(subject), held: Math.round(held), end };
      const since = `for ${span(held)}${called(subject)}`;
      if (end) ends.write('log', `Lock "${subject.key}" was held ${since}.`, fields);
      else
        holds.write('warn', `Lock "${subject.key}" has been held ${since}, and still is.`, fields);
    },
    listenerFailed(event, error) {
      logger.error(`A listener of "${event}" of the lock service failed.`, error);
    },
  };
}

/** The structured fields of a line. They have no fencing token: a reader of the log must not learn what a resource trusts. */
function fieldsOf({ name, key, label, mode, module }: LockSubject): object {
  return {
    name,
    key,
    ...(label !== undefined && { label }),
    mode,
    ...(module !== undefined && { module }),
  };
}

/** The name of a lock in parentheses, if it says more than the key. */
function called({ name, key }: LockSubject): string {
  return name === key || name === '(unnamed)' ? '' : ` (${name})`;
}

/** Writes a bounded number of lines of one kind. */
class BoundedLines {
  #until = -Infinity;
  #written = 0;
  #withheld = 0;

  constructor(
    private readonly clock: Clock,
    /** Ends the line on withheld lines: "12 more …". */
    private readonly what: string,
  ) {}

  write(level: 'warn' | 'log', text: string, fields: object): void {
    if (this.#mayWrite()) logger[level](text, fields);
  }

  #mayWrite(): boolean {
    const now = this.clock.monotonic();
    if (now >= this.#until) {
      this.#until = now + WINDOW;
      this.#written = 0;
    }
    if (this.#written < MOST) {
      this.#written += 1;
      return true;
    }
    if (this.#withheld === 0) this.clock.after(this.#until - now, () => this.#sum());
    this.#withheld += 1;
    return false;
  }

  #sum(): void {
    logger.warn(`${this.#withheld} more ${this.what} within ${span(WINDOW)}.`);
    this.#withheld = 0;
  }
}

import { lockChannels } from '../../engine/events/lock-channels.js';
import type { AcquireTrace, HoldTrace } from '../../engine/events/lock-event.js';
import { errorType } from './error-type.js';
import { type Listener, listen } from './listen.js';
import { Memo } from './memo.js';
import { type Labelled, type Series, SeriesTable } from './series.js';

/** Receives durations, in seconds. */
export interface Durations<Kept> {
  /** A call for a lock began, or a lock was granted, and is counted. */
  began?(): void;
  /** A call for a lock ended. */
  waited(seconds: number, kept: Kept): void;
  /** A lock that this process held was given back, or lost. */
  held(seconds: number, kept: Kept): void;
}

/** The upper bounds of the buckets of both durations, in seconds: from a round trip to 5 minutes. */
export const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/**
 * The figures of all locks of this process. Counts cost an addition each, and are read when an exporter wants them. Durations
 * are passed on at once.
 */
export class LockFigures<Kept> {
  readonly series: SeriesTable<Kept>;
  readonly #calls = new Memo<AcquireTrace, Series<Kept>>();
  readonly #holds = new Memo<HoldTrace, Series<Kept>>();

  constructor(
    makeKept: (subject: Labelled, error?: string) => Kept,
    private readonly durations: Durations<Kept>,
  ) {
    this.series = new SeriesTable(makeKept);
  }

  /** Counts until the returned function is called. `failed` gets the first error of the receiver of durations. */
  count(failed: (error: unknown) => void): () => void {
    const { acquire, hold, renewalFailed } = lockChannels;
    const listeners: Listener[] = [
      [acquire.start, (trace: AcquireTrace) => this.#called(trace)],
      [acquire.asyncEnd, (trace: AcquireTrace) => this.#answered(trace)],
      [hold.start, (trace: HoldTrace) => this.#granted(trace)],
      [hold.asyncEnd, (trace: HoldTrace) => this.#ended(trace)],
      [renewalFailed, (event: Labelled) => void (this.series.of(event).renewalFailures += 1)],
    ];
    return listen(listeners, failed);
  }

  #called(trace: AcquireTrace): void {
    const series = this.series.of(trace);
    series.waiting += 1;
    this.#calls.set(trace, series);
    this.durations.began?.();
  }

  #answered(trace: AcquireTrace): void {
    const series = this.#calls.get(trace);
    if (!series) return; // the call began before the count
    const outcome = series.outcome(errorType(trace));
    series.waiting -= 1;
    outcome.attempts += 1;
    this.durations.waited(trace.waited! / 1_000, outcome.kept);
  }

  #granted(trace: HoldTrace): void {
    const series = this.series.of(trace);
    series.held += 1;
    this.#holds.set(trace, series);
    this.durations.began?.();
  }

  #ended(trace: HoldTrace): void {
    const series = this.#holds.get(trace);
    if (!series) return;
    const lost = trace.end === 'lost';
    series.held -= 1;
    if (lost) series.lost += 1;
    const { kept } = series.outcome(lost ? trace.reason : undefined);
    this.durations.held(trace.held! / 1_000, kept);
  }
}

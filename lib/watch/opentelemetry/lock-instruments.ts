import type { Attributes, BatchObservableResult, Histogram, Meter } from '@opentelemetry/api';
import { BUCKETS } from '../telemetry/lock-figures.js';
import type { Series } from '../telemetry/series.js';

/** The instruments of one meter. Counts are observed when a reader collects them. */
export class LockInstruments {
  readonly wait: Histogram;
  readonly hold: Histogram;
  /** Stops the observation of counts. */
  readonly stop: () => void;

  constructor(
    meter: Meter,
    private readonly series: Iterable<Series<Attributes>>,
  ) {
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: [...BUCKETS] } };
    this.wait = meter.createHistogram('lock.wait.duration', {
      description: 'How long calls for a lock took until they got it or gave up.',
      ...seconds,
    });
    this.hold = meter.createHistogram('lock.hold.duration', {
      description: 'How long locks were held.',
      ...seconds,
    });
    const attempts = meter.createObservableCounter('lock.acquire.attempts', {
      description: 'Calls for a lock; those without an error.type got it.',
      unit: '{attempt}',
    });
    const lost = meter.createObservableCounter('lock.lost', {
      description: 'Locks that were lost while they were held.',
      unit: '{lock}',
    });
    const failures = meter.createObservableCounter('lock.renewal.failures', {
      description: 'Renewals that failed; each is tried again while its lease lasts.',
      unit: '{failure}',
    });
    const held = meter.createObservableUpDownCounter('lock.held', {
      description: 'Locks that this process holds.',
      unit: '{lock}',
    });
    const waiting = meter.createObservableUpDownCounter('lock.waiting', {
      description: 'Calls for a lock that are not answered yet.',
      unit: '{call}',
    });
    const tell = (result: BatchObservableResult): void => {
      for (const each of this.series) {
        const { kept: labels } = each.success;
        for (const outcome of each.outcomes()) {
          if (outcome.attempts > 0) result.observe(attempts, outcome.attempts, outcome.kept);
        }
        result.observe(lost, each.lost, labels);
        result.observe(failures, each.renewalFailures, labels);
        result.observe(held, each.held, labels);
        result.observe(waiting, each.waiting, labels);
      }
    };
    const told = [attempts, lost, failures, held, waiting];
    meter.addBatchObservableCallback(tell, told);
    this.stop = () => meter.removeBatchObservableCallback(tell, told);
  }
}

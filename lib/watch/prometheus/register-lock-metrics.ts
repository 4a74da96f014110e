import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';
import { LockOptionsError } from '../../engine/errors/refusals.js';
import { refuseOthers } from '../../engine/options/option-checks.js';
import { Distribution } from '../telemetry/distribution.js';
import { BUCKETS, LockFigures } from '../telemetry/lock-figures.js';
import type { Labelled, Series } from '../telemetry/series.js';
import { DurationHistogram, type Labels } from './duration-histogram.js';

/** The options of `registerLockMetrics`. */
export interface LockMetricsOptions {
  /**
   * The upper bounds of the buckets of both histograms, in seconds, each above the one before. Default: 1, 2.5, 5, 10, 25,
   * 50, 100, 250 and 500 ms, and 1, 2.5, 5, 10, 30, 60 and 300 s.
   */
  readonly buckets?: readonly number[];
}

/** The figures of calls and holds with the same labels. */
interface Kept {
  readonly labels: Labels;
  readonly waits: Distribution;
  readonly holds: Distribution;
}

const LABELS = ['lock_name', 'lock_mode', 'lock_topology'] as const;
const WITH_ERROR = [...LABELS, 'error_type'] as const;

/** The help text of each metric. */
const HELP = {
  lock_wait_duration_seconds: 'How long calls for a lock took until they got it or gave up.',
  lock_hold_duration_seconds: 'How long locks were held.',
  lock_acquire_attempts_total: 'Calls for a lock; those without an error_type got it.',
  lock_lost_total: 'Locks that were lost while they were held.',
  lock_renewal_failures_total: 'Renewals that failed; each is tried again while its lease lasts.',
  lock_held: 'Locks that this process holds.',
  lock_waiting: 'Calls for a lock that are not answered yet.',
};
type Name = keyof typeof HELP;

/**
 * Registers metrics of all locks of this process in a registry of prom-client. Returns a function that removes them. Labels are
 * `lock_name`, `lock_mode`, `lock_topology` and `error_type`. No key, token or holder is among them.
 * @example `const remove = registerLockMetrics(register);`
 * @throws LockOptionsError if the registry has a metric of one of these names, or an option is wrong.
 */
export function registerLockMetrics(
  registry: Pick<Registry, 'registerMetric' | 'getSingleMetric' | 'removeSingleMetric'>,
  options: LockMetricsOptions = {},
): () => void {
  checkRegistry(registry);
  const { buckets = BUCKETS, ...others } = options;
  refuseOthers(others, (other) => `registerLockMetrics has no option "${other}", only "buckets".`);
  checkBuckets(buckets);
  const figures = new LockFigures<Kept>(
    (subject, error) => ({
      labels: labelsOf(subject, error),
      waits: new Distribution(buckets),
      holds: new Distribution(buckets),
    }),
    {
      waited: (seconds, { waits }) => waits.add(seconds),
      held: (seconds, { holds }) => holds.add(seconds),
    },
  );
  const described = <N extends Name>(name: N) => ({ name, help: HELP[name], registers: [] });
  /** A metric whose counts are set when a scrape asks for them. */
  const told = (name: Name, tell: (series: Series<Kept>, labels: Labels) => void) => ({
    ...described(name),
    labelNames: name === 'lock_acquire_attempts_total' ? WITH_ERROR : LABELS,
    collect(this: { reset(): void }): void {
      this.reset();
      for (const series of figures.series) tell(series, series.success.kept.labels);
    },
  });
  const histogram = (name: Name, durations: 'waits' | 'holds'): DurationHistogram =>
    new DurationHistogram(
      { ...described(name), labelNames: WITH_ERROR, buckets: [...buckets] },
      function* () {
        for (const series of figures.series) {
          for (const { kept } of series.outcomes()) yield [kept.labels, kept[durations]];
        }
      },
    );
  const attempts = new Counter(
    told('lock_acquire_attempts_total', (series) => {
      for (const { attempts: count, kept } of series.outcomes()) {
        if (count > 0) attempts.inc(kept.labels, count);
      }
    }),
  );
  const lost = new Counter(
    told('lock_lost_total', (series, labels) => lost.inc(labels, series.lost)),
  );
  const failures = new Counter(
    told('lock_renewal_failures_total', (series, labels) =>
      failures.inc(labels, series.renewalFailures),
    ),
  );
  const held = new Gauge(told('lock_held', (series, labels) => held.set(labels, series.held)));
  const waiting = new Gauge(
    told('lock_waiting', (series, labels) => waiting.set(labels, series.waiting)),
  );
  const metrics: Record<Name, Histogram | Counter | Gauge> = {
    lock_wait_duration_seconds: histogram('lock_wait_duration_seconds', 'waits'),
    lock_hold_duration_seconds: histogram('lock_hold_duration_seconds', 'holds'),
    lock_acquire_attempts_total: attempts,
    lock_lost_total: lost,
    lock_renewal_failures_total: failures,
    lock_held: held,
    lock_waiting: waiting,
  };
  for (const metric of Object.values(metrics)) registry.registerMetric(metric);
  const stop = figures.count(warn);
  return () => {
    stop();
    for (const [name, metric] of Object.entries(metrics)) {
      if (registry.getSingleMetric(name) === metric) registry.removeSingleMetric(name);
    }
  };
}

function labelsOf({ name, mode, topology }: Labelled, error?: string): Labels {
  const labels = { lock_name: name, lock_mode: mode, lock_topology: topology };
  return error === undefined ? labels : { ...labels, error_type: error };
}

function checkRegistry(
  registry: Pick<Registry, 'registerMetric' | 'getSingleMetric'> | undefined,
): void {
  if (typeof registry?.registerMetric !== 'function') {
    throw new LockOptionsError(
      'registerLockMetrics takes a registry of prom-client: registerLockMetrics(register).',
    );
  }
  const taken = Object.keys(HELP).find((name) => registry.getSingleMetric(name));
  if (taken === undefined) return;
  throw new LockOptionsError(
    `The registry has a metric "${taken}" already: call registerLockMetrics once, or call what its first call returned before.`,
  );
}

function checkBuckets(buckets: readonly number[]): void {
  const grow =
    Array.isArray(buckets) &&
    buckets.every(
      (bound, at) => Number.isFinite(bound) && bound > (at === 0 ? 0 : buckets[at - 1]!),
    );
  if (grow && buckets.length > 0) return;
  throw new LockOptionsError(
    'Option "buckets" takes seconds above 0, each above the one before: [0.01, 0.1, 1, 10].',
  );
}

function warn(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  process.emitWarning(`The metrics of locks are incomplete: ${why}`, { code: 'LOCK_METRICS' });
}

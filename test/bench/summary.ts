import { type Adapter, OURS, RAW } from './adapters/index.js';
import type { Figures } from './measure/figures.js';
import { median } from './measure/statistics.js';
import type { Rounds } from './rounds.js';
import type { Workload } from './workloads/index.js';

/** One row of a table: medians over the rounds, and ratios that were formed within each round. */
export interface Row {
  readonly variant: string;
  readonly configuration: string;
  /** Null where the variant cannot do the workload. */
  readonly figures: Figures | null;
  /** Sections per second, against raw ioredis; NaN where raw cannot do the workload. */
  readonly toRaw: number;
  /** Sections per second, against the best peer of the same round. */
  readonly toBestPeer: number;
}

export interface Summary {
  readonly workload: Workload;
  readonly rows: readonly Row[];
}

export function summary(workload: Workload, rounds: Rounds): Summary {
  const rows = [...rounds].map(([adapter, series]) => ({
    variant: adapter.name,
    configuration: adapter.configuration,
    figures: series && medians(series),
    toRaw: ratio(series, rounds.get(RAW) ?? null),
    toBestPeer: ratio(series, bestPeers(rounds)),
  }));
  return { workload, rows };
}

function medians(series: readonly Figures[]): Figures {
  const names = Object.keys(series[0]!) as (keyof Figures)[];
  const entries = names.map((name) => {
    const values = series.map((figures) => figures[name]);
    const total = name === 'violations' || name === 'gaveUp';
    return [name, total ? values.reduce((sum, value) => sum + value, 0) : median(values)];
  });
  return Object.fromEntries(entries) as Figures;
}

/** In each round the figures of the peer that did best; raw ioredis and this library are no peers. */
function bestPeers(rounds: Rounds): Figures[] {
  const peers = [...rounds].filter(([adapter]) => isPeer(adapter)).map(([, series]) => series!);
  const [first] = peers;
  return (first ?? []).map((_, round) =>
    peers
      .map((series) => series[round]!)
      .reduce((best, figures) => (figures.perSecond > best.perSecond ? figures : best)),
  );
}

function isPeer(adapter: Adapter): boolean {
  return adapter.waits && !OURS.includes(adapter);
}

function ratio(series: readonly Figures[] | null, reference: readonly Figures[] | null): number {
  if (!series || !reference) return NaN;
  return median(series.map(({ perSecond }, round) => perSecond / reference[round]!.perSecond));
}

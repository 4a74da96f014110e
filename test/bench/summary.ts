import { kindOf } from './kinds/index.js';
import type { Figures, Measure, Reference } from './measure/figures.js';
import { median } from './measure/statistics.js';
import type { Rounds, Series } from './rounds.js';
import { GATHERED_ON, isPeer, RAW_ON } from './variants.js';
import type { Workload } from './workloads/workload.js';

/** One row of a table: medians over the rounds, and ratios that were formed within each round. */
export interface Row {
  readonly variant: string;
  readonly configuration: string;
  /** Why there are no figures. */
  readonly refused?: string | undefined;
  readonly figures: Figures;
  /** By figure: against raw ioredis of the same major, against the peer that did best at it in that round, against the floor. */
  readonly ratios: Readonly<Record<string, Readonly<Partial<Record<Reference, number>>>>>;
}

export interface Summary {
  readonly workload: Workload;
  readonly measures: readonly Measure[];
  readonly rows: readonly Row[];
  /** The peer that did best at what matters most. */
  readonly bestPeer: string | undefined;
}

export function summary(workload: Workload, { series, floor }: Rounds): Summary {
  const measures = kindOf(workload).measures(workload);
  const peers = series.filter(
    ({ adapter, refused }) => refused === undefined && isPeer(adapter.name),
  );
  const roundsOf = (variant: string): readonly Figures[] =>
    series.find(({ adapter }) => adapter.name === variant)?.rounds ?? [];
  const rows = series.map(({ adapter: { name, configuration, ioredis = 6 }, refused, rounds }) => ({
    variant: name,
    configuration,
    refused,
    figures: refused === undefined ? medians(rounds, measures) : {},
    ratios: Object.fromEntries(
      measures.map((measure) => {
        const references = {
          raw: of(roundsOf(RAW_ON[ioredis]), measure),
          gathered: of(roundsOf(GATHERED_ON[ioredis]), measure),
          peer: bestOf(peers, measure),
          floor: of(floor, measure),
        };
        return [measure.figure, ratios(of(rounds, measure), references, measure)];
      }),
    ),
  }));
  const floorRow = {
    variant: (workload.kind === 'turns' && workload.floor?.name) || '',
    configuration: '',
    figures: medians(floor, measures),
    ratios: {},
  };
  const withFloor = floor.length > 0 ? [floorRow, ...rows] : rows;
  return { workload, measures, rows: withFloor, bestPeer: leader(peers, measures) };
}

/** The peer whose median is the best at the first measure that has a best. */
function leader(peers: readonly Series[], measures: readonly Measure[]): string | undefined {
  const decisive = measures.find(({ better }) => better);
  if (!decisive) return undefined;
  const ranked = peers
    .map((peer) => ({ name: peer.adapter.name, value: median(sound(peer, decisive)) }))
    .filter(({ value }) => !Number.isNaN(value))
    .toSorted((a, b) => (decisive.better === 'more' ? b.value - a.value : a.value - b.value));
  return ranked[0]?.name;
}

function of(rounds: readonly Figures[], { figure }: Measure): number[] {
  return rounds.map((figures) => figures[figure] ?? NaN);
}

function medians(rounds: readonly Figures[], measures: readonly Measure[]): Figures {
  const totals = new Set(measures.filter(({ total }) => total).map(({ figure }) => figure));
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = rounds.map((figures) => figures[name]!);
      return [
        name,
        totals.has(name) ? values.reduce((sum, value) => sum + value, 0) : median(values),
      ];
    }),
  );
}

/** In each round the best that any peer did. */
function bestOf(peers: readonly Series[], measure: Measure): number[] {
  const all = peers.map((peer) => sound(peer, measure));
  const pick = measure.better === 'less' ? Math.min : Math.max;
  return (all[0] ?? []).map((_, round) => {
    const seen = all.map((values) => values[round]!).filter((value) => !Number.isNaN(value));
    return seen.length > 0 ? pick(...seen) : NaN;
  });
}

/** What a peer did in each round; where it lost leases, or let two in, it did nothing. */
function sound({ rounds }: Series, measure: Measure): number[] {
  const fair = rounds.map((figures) => (figures['lost'] || figures['violations'] ? {} : figures));
  return of(fair, measure);
}

function ratios(
  values: readonly number[],
  references: Readonly<Record<Reference, readonly number[]>>,
  { versus = [] }: Measure,
): Row['ratios'][string] {
  return Object.fromEntries(
    versus.map((name) => [
      name,
      median(values.map((value, round) => value / (references[name][round] ?? NaN))),
    ]),
  );
}

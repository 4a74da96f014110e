import type { Adapter } from '../adapters/index.js';
import type { Effort } from '../effort.js';
import type { Figures } from '../measure/figures.js';
import { SlowNetwork } from '../network/slow-network.js';
import { measure, type Site } from '../rounds.js';
import { summary } from '../summary.js';
import type { Sweep } from './sweeps.js';

/** How one variant fares as something grows. */
export interface Curve {
  readonly variant: string;
  readonly points: readonly { readonly size: number; readonly figures: Figures }[];
}

export interface Growth {
  readonly name: string;
  readonly unit: string;
  /** The figures of interest, by name, with their titles. */
  readonly titles: Readonly<Record<string, string>>;
  readonly curves: readonly Curve[];
}

/** Measures each size of a sweep, variants interleaved. */
export async function growth(
  sweep: Sweep,
  adapters: readonly Adapter[],
  site: Site,
  effort: Effort,
): Promise<Growth> {
  const { name, unit, sizes, figures: titles } = sweep;
  const measured: { size: number; rows: ReturnType<typeof summary>['rows'] }[] = [];
  for (const size of sizes) {
    const workload = sweep.workload(size);
    const rounds = await withNetwork(site, sweep.network && size, (place) =>
      measure(workload, adapters, place, effort),
    );
    measured.push({ size, rows: summary(workload, rounds).rows });
  }
  const curves = adapters.map((adapter) => ({
    variant: adapter.name,
    points: measured.flatMap(({ size, rows }) => {
      const row = rows.find(({ variant }) => variant === adapter.name);
      if (!row || row.refused !== undefined) return [];
      const wanted = Object.keys(titles).map((figure) => [figure, row.figures[figure] ?? NaN]);
      return [{ size, figures: Object.fromEntries(wanted) as Figures }];
    }),
  }));
  return { name, unit, titles, curves: curves.filter(({ points }) => points.length > 0) };
}

/** With a slower network before the server, if one is asked for; also one that adds nothing, to compare with. */
async function withNetwork<T>(
  site: Site,
  roundTrip: number | undefined,
  step: (site: Site) => Promise<T>,
): Promise<T> {
  if (roundTrip === undefined) return step(site);
  const network = await SlowNetwork.before(site.url, roundTrip);
  try {
    return await step({ ...site, replicaUrl: network.url });
  } finally {
    network.close();
  }
}

import { Histogram, type HistogramConfiguration } from 'prom-client';
import type { Distribution } from '../telemetry/distribution.js';

export type Labels = Readonly<Record<'lock_name' | 'lock_mode' | 'lock_topology', string>> & {
  readonly error_type?: string;
};

type LabelName = keyof Labels | 'le';
type Told = Awaited<ReturnType<Histogram<LabelName>['get']>>;

/**
 * A histogram over distributions that are counted elsewhere, since `observe` of prom-client builds a text from the labels each
 * time. Its output is that of prom-client's own.
 */
export class DurationHistogram extends Histogram<LabelName> {
  constructor(
    private readonly configuration: HistogramConfiguration<LabelName> & {
      readonly buckets: number[];
    },
    private readonly distributions: () => Iterable<readonly [Labels, Distribution]>,
  ) {
    super(configuration);
  }

  /** Called by a scrape, a cluster's aggregation and `getMetricsAsJSON`. */
  override async get(): Promise<Told> {
    const { name, help, buckets } = this.configuration;
    const values: Told['values'] = [];
    for (const [labels, { cumulative, sum }] of this.distributions()) {
      const count = cumulative.at(-1)!;
      if (count === 0) continue;
      cumulative.forEach((value, at) => {
        const le = buckets[at] ?? '+Inf';
        values.push({ labels: { le, ...labels }, value, metricName: `${name}_bucket` });
      });
      values.push({ labels: { ...labels }, value: sum, metricName: `${name}_sum` });
      values.push({ labels: { ...labels }, value: count, metricName: `${name}_count` });
    }
    return { name, help, type: 'histogram', values, aggregator: 'sum' } as unknown as Told;
  }

  /** Preferred by a scrape since prom-client 15.1. */
  getForPromString(): Promise<Told> {
    return this.get();
  }

  /** Called also by prom-client's constructor, before `distributions` is set. */
  override reset(): void {
    for (const [, distribution] of this.distributions?.() ?? []) distribution.reset();
  }
}

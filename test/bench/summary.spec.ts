import { describe, expect, it } from '@jest/globals';
import type { Adapter } from './adapters/index.js';
import type { Figures } from './measure/figures.js';
import type { Series } from './rounds.js';
import { type Row, type Summary, summary } from './summary.js';
import { OURS, RAW } from './variants.js';
import { renewed } from './workloads/renewals.js';
import { newKeys } from './workloads/uncontended.js';

function series(name: string, rounds: readonly Figures[], ioredis: Adapter['ioredis'] = 6): Series {
  const adapter = { name, configuration: '', ioredis, waits: true, renews: true };
  return { adapter: adapter as Adapter, rounds: [...rounds] };
}

function rates(...perSecond: number[]): Figures[] {
  return perSecond.map((rate) => ({ perSecond: rate }));
}

function rowOf({ rows }: Summary, name: string): Row {
  return rows.find(({ variant }) => variant === name)!;
}

describe('a table of the benchmark', () => {
  it('compares each variant with raw on the same ioredis', () => {
    const table = summary(newKeys(256), {
      series: [
        series(RAW.on6, rates(100)),
        series(RAW.on5, rates(200), 5),
        series(RAW.gatheredOn5, rates(400), 5),
        series(OURS.byDefault, rates(150)),
        series(OURS.on5, rates(150), 5),
      ],
      floor: [],
    });
    expect(rowOf(table, OURS.byDefault).ratios['perSecond']!.raw).toBe(1.5);
    const { raw, gathered } = rowOf(table, OURS.on5).ratios['perSecond']!;
    expect([raw, gathered]).toEqual([0.75, 0.375]);
  });

  it('forms ratios within each round', () => {
    const table = summary(newKeys(256), {
      series: [series(RAW.on6, rates(100, 10, 100)), series(OURS.byDefault, rates(200, 20, 300))],
      floor: [],
    });
    expect(rowOf(table, OURS.byDefault).ratios['perSecond']!.raw).toBe(2);
  });

  it('does not take a peer that lost leases for the best', () => {
    const table = summary(renewed(10_000), {
      series: [
        series(OURS.byDefault, [{ cpuShare: 5, lost: 0 }]),
        series('a careless peer', [{ cpuShare: 1, lost: 3 }]),
        series('a careful peer', [{ cpuShare: 10, lost: 0 }]),
      ],
      floor: [],
    });
    expect(rowOf(table, OURS.byDefault).ratios['cpuShare']!.peer).toBe(0.5);
    expect(table.bestPeer).toBe('a careful peer');
  });

  it('has no best peer where all lost leases', () => {
    const table = summary(renewed(10_000), {
      series: [
        series(OURS.byDefault, [{ cpuShare: 5, lost: 0 }]),
        series('a careless peer', [{ cpuShare: 1, lost: 3 }]),
      ],
      floor: [],
    });
    expect(rowOf(table, OURS.byDefault).ratios['cpuShare']!.peer).toBeNaN();
    expect(table.bestPeer).toBeUndefined();
  });
});

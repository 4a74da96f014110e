import { describe, expect, it } from '@jest/globals';
import { kindOf } from '../kinds/index.js';
import type { Row } from '../summary.js';
import { OURS } from '../variants.js';
import { memory } from '../workloads/memory.js';
import { renewed } from '../workloads/renewals.js';
import { newKeys } from '../workloads/uncontended.js';
import type { Workload } from '../workloads/workload.js';
import { type Goal, GOALS, goalsTable, outcomes } from './goals.js';
import { withHeadline } from './headline.js';
import type { Results } from './results.js';

const effort = { rounds: 1, longRounds: 1, warmUp: 0, window: 1, pairs: 1 };

const RATE: Goal = {
  what: 'rate / raw',
  where: 'here',
  least: 1.8,
  measured: {
    workload: newKeys(256),
    variant: OURS.byDefault,
    figure: 'perSecond',
    versus: 'raw',
  },
};

describe('the goals of the benchmark', () => {
  it('are met at their limits, and not beyond', () => {
    expect([1.79, 1.8, 2].map((ratio) => metBy(rate(ratio), RATE))).toEqual([false, true, true]);
    const { what, where, measured } = RATE;
    const atMost: Goal = { what, where, measured, most: 1.8 };
    expect([1.79, 1.8, 2].map((ratio) => metBy(rate(ratio), atMost))).toEqual([true, true, false]);
  });

  it('are neither met nor missed without a figure', () => {
    expect(metBy(rate(NaN), RATE)).toBeUndefined();
    expect(metBy(found(newKeys(16), []), RATE)).toBeUndefined();
    const refused = found(newKeys(256), [
      { refused: 'it failed', ratios: { perSecond: { raw: 2 } } },
    ]);
    expect(metBy(refused, RATE)).toBeUndefined();
  });

  it('do not take a few keys for a million', () => {
    const grown = (keys: number): Results => found(memory, [{ figures: { grown: 0.1, keys } }]);
    const goal = GOALS.find(({ where }) => where === memory.name)!;
    expect(metBy(grown(20_000), goal)).toBeUndefined();
    expect(metBy(grown(1_000_000), goal)).toBe(true);
  });

  it('each name a figure and a ratio that its table has', () => {
    const places = GOALS.flatMap(({ measured }) =>
      typeof measured === 'function' ? [] : [measured],
    );
    expect(places.length).toBeGreaterThan(40);
    const missing = places.filter(({ workload, figure, versus }) => {
      const one = kindOf(workload)
        .measures(workload)
        .find((measure) => measure.figure === figure);
      return !one || (versus !== undefined && !one.versus?.includes(versus));
    });
    expect(missing).toEqual([]);
  });

  it('say in their table what was not reached', () => {
    expect(goalsTable(rate(1.5), false)).toMatch(/256: rate \/ raw .* ≥ 1\.8 .* 1\.5 .*not met/);
    expect(goalsTable(rate(1.5), false)).not.toContain('not measured');
    expect(goalsTable(rate(1.5), true)).toContain('not measured');
    expect(goalsTable(found(newKeys(256), []), false)).toBe('');
  });
});

describe('the figures that pages quote', () => {
  const page =
    'A\n<!-- written by npm run bench from bench/results.json -->\nold\n<!-- until here -->\nZ';

  function quoted(ours: number, peer: number): string[] {
    const rows = [
      { ratios: { perSecond: { raw: ours } } },
      { variant: 'some peer', ratios: { perSecond: { raw: peer } } },
    ];
    const text = withHeadline(page, found(newKeys(256), rows));
    expect(text.startsWith('A\n')).toBe(true);
    expect(text.endsWith('\nZ')).toBe(true);
    expect(text).not.toContain('old');
    return text.split('**Not ahead**');
  }

  it('leave out a peer that lost leases', () => {
    const rows = [
      { ratios: { cpuShare: { peer: 0.5 } } },
      { variant: 'a careless peer', ratios: { cpuShare: { peer: 0.1 } }, figures: { lost: 7 } },
    ];
    const text = withHeadline(page, found(renewed(10_000), rows));
    expect(text).toMatch(/client CPU \/ best peer \| 0\.5 × \| – \| – \| – \|/);
  });

  it('stand among what is ahead only where neither raw nor a peer is better', () => {
    const row = '256, new keys: rate / raw';
    expect(quoted(1.2, 0.9)[0]).toContain(row);
    expect(quoted(0.95, 0.9)[1]).toContain(row);
    expect(quoted(1.2, 1.3)[1]).toContain(row);
  });
});

/** Results with one table that has these rows. */
function found(workload: Workload, rows: readonly Partial<Row>[]): Results {
  const whole = rows.map((row) => ({
    variant: OURS.byDefault,
    configuration: '',
    figures: {},
    ratios: {},
    ...row,
  }));
  const table = { workload, measures: [], rows: whole, bestPeer: undefined };
  return { at: '', machine: {}, effort, summaries: [table], overheads: [], growths: [] };
}

function rate(ratio: number): Results {
  return found(newKeys(256), [{ ratios: { perSecond: { raw: ratio } } }]);
}

function metBy(results: Results, goal: Goal): boolean | undefined {
  return outcomes(results, [goal])[0]!.met;
}

import { describe, expect, it } from '@jest/globals';
import { axis, short } from './axis.js';
import { barChart } from './bar-chart.js';

describe('an axis of the plots', () => {
  it('starts at nothing while values are near to each other', () => {
    const { at, ticks } = axis([20, 80], 0, 100);
    expect(at(0)).toBe(0);
    expect(at(40)).toBeCloseTo(at(80) / 2);
    expect(ticks.map(({ label }) => label)).toEqual(['0', '20', '40', '60', '80']);
  });

  it('goes by powers of ten when they are far apart', () => {
    const { at, ticks } = axis([1, 1_000], 0, 90);
    expect([at(1), at(10), at(1_000)]).toEqual([0, 30, 90]);
    expect(ticks.map(({ label }) => label)).toEqual(['1', '10', '100', '1000']);
  });

  it('keeps what has no logarithm at its foot', () => {
    expect(axis([0, 1, 1_000], 5, 90).at(0)).toBe(5);
  });

  it('writes numbers as short as they stay true', () => {
    expect([0.1234, 12.34, 1_234, 12_345, 1_234_567].map(short)).toEqual([
      '0.123',
      '12.3',
      '1234',
      '12.3 k',
      '1.23 M',
    ]);
  });

  it('lets no name break the drawing', () => {
    const bars = [{ label: 'a < b & "c"', value: 1, colour: '#000' }];
    expect(barChart({ title: '', subtitle: '', bars })).toContain('a &lt; b &amp; &quot;c&quot;');
  });
});

import { describe, expect, it } from '@jest/globals';
import { violations } from './measure/exclusion.js';
import { handOffs, idleShare } from './measure/hand-off.js';
import { jain, median, percentile } from './measure/statistics.js';
import type { Turn } from './measure/turn.js';

function turn(asked: number, acquired: number, releasing: number, key = 'hot'): Turn {
  return { caller: 0, key, asked, acquired, releasing, released: releasing };
}

describe('the benchmark', () => {
  it('sees a holder who came before the one before had gone', () => {
    expect(violations([turn(0, 1, 3), turn(0, 3, 4), turn(0, 5, 6)])).toBe(0);
    expect(violations([turn(0, 1, 3), turn(0, 2, 4), turn(0, 5, 6)])).toBe(1);
    expect(violations([turn(0, 5, 6), turn(0, 2, 4), turn(0, 1, 3)])).toBe(1);
  });

  it('sees one who came while the holder before the last was still there', () => {
    expect(violations([turn(0, 1, 9), turn(0, 2, 3), turn(0, 4, 5)])).toBe(2);
  });

  it('lets different keys be held at once', () => {
    expect(violations([turn(0, 1, 3, 'a'), turn(0, 2, 4, 'b')])).toBe(0);
  });

  it('times a hand-off only while somebody waits', () => {
    const waited = (turns: Turn[]): number[] =>
      handOffs(turns).flatMap(({ awaited, idle }) => (awaited ? [idle] : []));
    expect(waited([turn(0, 0, 10), turn(5, 12, 20), turn(30, 31, 40)])).toEqual([2]);
    expect(waited([turn(0, 0, 10), turn(11, 12, 20), turn(5, 21, 40)])).toEqual([1, 2]);
  });

  it('calls a lock idle that is free and wanted, not one that nobody wants', () => {
    expect(idleShare(handOffs([turn(0, 0, 10), turn(5, 12, 20)]))).toBeCloseTo(2 / 10);
    expect(idleShare(handOffs([turn(0, 0, 10), turn(30, 31, 40)]))).toBeCloseTo(1 / 10);
  });

  it('calls it fair when all had the same, and 1/n when one had all', () => {
    expect(jain([3, 3, 3])).toBeCloseTo(1);
    expect(jain([9, 0, 0])).toBeCloseTo(1 / 3);
  });

  it('takes percentiles of values that were seen', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(percentile([1, 2, 3, 4], 1)).toBe(4);
    expect(percentile([], 0.5)).toBeNaN();
    expect(median([NaN, 3, NaN, 1, 2])).toBe(2);
  });
});

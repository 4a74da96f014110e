import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { withHeadline } from '../bench/report/headline.js';
import { figureAt } from '../bench/report/place.js';
import { PUBLISHED, readResults } from '../bench/report/results.js';
import { OURS } from '../bench/variants.js';
import { hotKeyOneProcess } from '../bench/workloads/hot-key-one-process.js';

const results = readResults(PUBLISHED)!;

describe('the published run', () => {
  it('is quoted by the page about performance, where we are ahead and where not', () => {
    const page = readFileSync('docs/performance.md', 'utf8');
    expect(page).toBe(withHeadline(page, results));
  });

  it('is quoted by the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const workload = hotKeyOneProcess.find(({ callers }) => callers === 64)!;
    const place = {
      workload,
      variant: OURS.byDefault,
      figure: 'perSecond',
      versus: 'peer',
    } as const;
    const quoted = [...readme.matchAll(/(\d+) times the (?:sections|rate) of the best/g)];
    expect(quoted).toHaveLength(2);
    expect(quoted.map(([, times]) => Number(times))).toEqual(
      quoted.map(() => Math.floor(figureAt(results, place)!)),
    );
  });
});

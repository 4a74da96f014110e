import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { withHeadline } from '../bench/report/headline.js';
import { figureAt } from '../bench/report/place.js';
import { PUBLISHED, readResults } from '../bench/report/results.js';
import { OURS } from '../bench/variants.js';
import { hotKeyOneProcess } from '../bench/workloads/hot-key-one-process.js';
import { hotKeyProcesses } from '../bench/workloads/hot-key-processes.js';
import type { TurnsWorkload } from '../bench/workloads/workload.js';

const results = readResults(PUBLISHED)!;

describe('the published run', () => {
  it('is quoted by the page about performance, where we are ahead and where not', () => {
    const page = readFileSync('docs/performance.md', 'utf8');
    expect(page).toBe(withHeadline(page, results));
  });

  it('is quoted by the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const ahead = (workload: TurnsWorkload): number =>
      figureAt(results, {
        workload,
        variant: OURS.byDefault,
        figure: 'perSecond',
        versus: 'peer',
      })!;
    const alone = ahead(hotKeyOneProcess.find(({ callers }) => callers === 64)!);
    const [least, most] = hotKeyProcesses.map(ahead).sort((a, b) => a - b);
    const among = `${least!.toFixed(1)} to ${most!.toFixed(1)}`;
    expect(readme).toContain(
      `it runs ${Math.floor(alone)} times the sections of the best other library; with four processes, ${among} times.`,
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { withHeadline } from '../bench/report/headline.js';
import { PUBLISHED, readResults } from '../bench/report/results.js';

describe('the page about performance', () => {
  it('quotes the figures of the published run, where we are ahead and where not', () => {
    const page = readFileSync('docs/performance.md', 'utf8');
    expect(page).toBe(withHeadline(page, readResults(PUBLISHED)!));
  });
});

import { describe, expect, it } from '@jest/globals';
import { textOf } from './pages.js';

interface Result {
  readonly passed: number;
  readonly failed: number;
}
type Results = Readonly<Record<string, Readonly<Record<string, Result>>>>;

const tools = '../../tools/servers';
const { SERVERS } = (await import(`${tools}/servers.mjs`)) as {
  SERVERS: readonly { name: string }[];
};
const { readResults, tableOf } = (await import(`${tools}/results.mjs`)) as {
  readResults: () => Results;
  tableOf: (results: Results, parts: readonly string[]) => string[];
};

const page = textOf('docs/servers.md');

describe('the page of servers', () => {
  const results = readResults();

  it('shows what npm run test:servers kept', () => {
    const [, head] = /^\| server \| (.*) \| last run \|$/m.exec(page)!;
    expect(page).toContain(tableOf(results, head!.split(' | ')).join('\n'));
  });

  it('has every server that is tried, and no failure', () => {
    expect(Object.keys(results)).toEqual(SERVERS.map(({ name }) => name));
    const all = Object.values(results).flatMap((row) => Object.values(row));
    expect(all.filter(({ passed, failed }) => failed > 0 || passed === 0)).toEqual([]);
    const rows = Object.values(results);
    expect(rows.map((row) => 'start' in row)).toEqual(rows.map(() => true));
  });
});

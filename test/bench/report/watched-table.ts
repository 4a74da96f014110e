import { REFERENCES, type Watched } from '../watched/rows.js';
import { number, table } from './table.js';

export function watchedTable({ name, costs }: Watched): string {
  const { bare, quiet } = REFERENCES;
  const head = ['who watches', 'client CPU µs', `× ${bare}`, `× ${quiet}`, 'Redis CPU µs'];
  const rows = costs.map(({ name: who, client, server, ratios }) => [
    who,
    ...[client, ratios.bare, ratios.quiet, server].map(number),
  ]);
  return `### ${name}\n\n${table(head, rows)}`;
}

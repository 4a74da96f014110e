import { REFERENCES, type Watched } from '../watched/rows.js';
import { number, table } from './table.js';

export function watchedTable({ name, costs }: Watched): string {
  const { bare, quiet } = REFERENCES;
  const versus = `× ${quiet}`;
  const processors = ['client CPU µs', `× ${bare}`, versus, '× traced alone', 'Redis CPU µs'];
  const head = ['who watches', ...processors, 'wall µs', versus];
  const rows = costs.map(({ name: who, client, server, wall, ratios, wallRatio }) => [
    who,
    ...[client, ratios.bare, ratios.quiet, ratios.traced, server, wall, wallRatio].map(number),
  ]);
  return `### ${name}\n\n${table(head, rows)}`;
}

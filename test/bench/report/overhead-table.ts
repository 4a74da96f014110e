import type { Overhead } from '../overhead/index.js';
import { number, table } from './table.js';

export function overheadTable({ name, costs }: Overhead): string {
  const rows = costs.map(({ name: subject, microseconds, ratio }) => [
    subject,
    number(microseconds),
    number(ratio),
  ]);
  return `### ${name}\n\n${table(['call', 'µs', '× the first'], rows)}`;
}

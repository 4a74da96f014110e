import type { Overhead } from '../overhead/index.js';
import { number, table } from './table.js';

export function overheadTable({ name, costs }: Overhead): string {
  const rows = costs.map(({ name: subject, microseconds, ratio, cpu, more }) => [
    subject,
    number(microseconds),
    number(ratio),
    number(cpu),
    number(more),
  ]);
  return `### ${name}\n\n${table(['call', 'µs', '× the first', 'CPU µs', 'more than the service call'], rows)}`;
}

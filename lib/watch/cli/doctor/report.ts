import { padded } from '../table.js';
import type { Diagnosis, Status } from './finding.js';

const STATUS = 9;
const CHECK = 13;
const INDENT = ' '.repeat(STATUS + CHECK);

/** The report for a person. */
export function reportLines(diagnoses: readonly Diagnosis[]): string[] {
  const all = new Set(diagnoses.flatMap(({ servers }) => servers));
  const lines = diagnoses.flatMap(({ status, check, found, remedy, servers }) => {
    const where = servers.length > 0 && servers.length < all.size ? `${servers.join(', ')}: ` : '';
    return [
      `${padded(status, STATUS)}${padded(check, CHECK)}${where}${found}`,
      ...(remedy === undefined ? [] : [`${INDENT}${remedy}`]),
    ];
  });
  return [...lines, '', `${count(diagnoses, 'problem')}, ${count(diagnoses, 'warning')}`];
}

function count(diagnoses: readonly Diagnosis[], status: Status): string {
  const number = diagnoses.filter((each) => each.status === status).length;
  return `${number} ${status}${number === 1 ? '' : 's'}`;
}

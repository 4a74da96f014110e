import { FOOTPRINT, type Footprint } from '../footprint.js';
import { number, table } from './table.js';

export function footprintTable({ wall, processor, files, packed, unpacked }: Footprint): string {
  const times = Object.entries({ 'wall time, ms': wall, 'processor time, ms': processor });
  const imports = times.map(([name, { alone, both, ratio }]) => [
    name,
    ...[alone, both, ratio].map(number),
  ]);
  const tarball = `Tarball: ${files} files, ${number(packed / 1e6)} MB, unpacked ${number(unpacked / 1e6)} MB.`;
  const head = ['process that imports', 'the peers alone', 'and the package', '×'];
  return `### ${FOOTPRINT.name}\n\n${table(head, imports)}\n${tarball}\n`;
}

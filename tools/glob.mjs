import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below `folder` whose name ends in `ending`, as paths from here, sorted. */
export function globSync(folder, ending) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => name.endsWith(ending))
    .sort();
}

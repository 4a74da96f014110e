import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below `folder` whose name ends in `ending`, as paths from the root, sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

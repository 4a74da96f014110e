import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filesBelow } from './files-below.js';

/** What one file of lib imports, types or more. */
export interface Import {
  readonly file: string;
  readonly layer: string;
  /** What stands between the quotes; paths of our own from lib on. */
  readonly target: string;
  readonly ours: boolean;
  readonly typeOnly: boolean;
}

const IMPORT =
  /^(?:import|export)( type)? [^;'"]*\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

/** All imports of lib. */
export const imports: Import[] = filesBelow('lib', '.ts').flatMap((path) => {
  const file = relative('lib', path);
  return [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, type, from, bare, dynamic]) => {
    const name = (from ?? bare ?? dynamic)!;
    const ours = name.startsWith('.');
    const target = ours ? join(dirname(file), name) : name;
    return { file, layer: layerOf(file), target, ours, typeOnly: type !== undefined };
  });
});

/** A folder of engine/, nest/ or watch/, else one of lib; `.` for its root. */
export function layerOf(file: string): string {
  const folder = /^(?:(?:engine|nest|watch)\/[^/]+|memory\/testing|[^/]+)(?=\/)/;
  return folder.exec(file)?.[0] ?? '.';
}

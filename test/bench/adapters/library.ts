import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

type Library = typeof import('../../../lib/index.js');
type Testing = typeof import('../../../lib/memory/testing/index.js');

let folder = resolve('.');

/** From now on the library is the build that lies there. */
export function buildAt(other: string): void {
  folder = other;
}

/** The library as it is built. */
export function library(): Promise<Library> {
  return built('index.js');
}

/** Its store in memory, as it is built. */
export function testing(): Promise<Testing> {
  return built('testing.js');
}

/** An entry point as it is built. */
export function built<T>(path: string): Promise<T> {
  return import(pathToFileURL(join(folder, 'dist/esm', path)).href) as Promise<T>;
}

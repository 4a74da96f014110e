import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

type Library = typeof import('../../../lib/index.js');
type Testing = typeof import('../../../lib/testing/index.js');

/** The library as it is built. */
export function library(): Promise<Library> {
  return built('index.js');
}

/** Its store in memory, as it is built. */
export function testing(): Promise<Testing> {
  return built('testing.js');
}

function built<T>(path: string): Promise<T> {
  return import(pathToFileURL(resolve('dist/esm', path)).href) as Promise<T>;
}

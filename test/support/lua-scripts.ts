import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LuaScript } from '../../lib/engine/redis/index.js';
import { filesBelow } from '../architecture/files-below.js';

/** Every script that the locks run, once. */
export async function luaScripts(): Promise<LuaScript[]> {
  const scripts = new Set<LuaScript>();
  for (const file of filesBelow('lib/engine/locks', '.ts')) {
    if (!readFileSync(file, 'utf8').includes('= named(')) continue;
    const tables: object[] = Object.values((await import(resolve(file))) as object);
    const steps: unknown[] = tables.flatMap((table) => Object.values(table));
    for (const step of steps) if (step instanceof LuaScript) scripts.add(step);
  }
  return [...scripts];
}

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { findRedisServer } from '../../tools/redis-server.js';

const PACKAGES = [
  'ioredis',
  'ioredis-5',
  'redlock-4',
  'redlock-5',
  'redis-semaphore',
  'redlock-universal',
  '@sesamecare-oss/redlock',
  '@anchan828/nest-redlock',
];

/** Where the figures come from: they hold there, the ratios travel further. */
export function machine(): Record<string, unknown> {
  const version = execFileSync(findRedisServer(), ['--version'], { encoding: 'utf8' });
  return {
    cpus: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    loadBefore: loadavg()[0],
    node: process.version,
    redis: /v=(\S+)/.exec(version)?.[1],
    packages: Object.fromEntries(PACKAGES.map((name) => [name, installed(name)])),
  };
}

function installed(name: string): string {
  const folder = ['test/bench', '.'].find((each) => existsSync(`${each}/node_modules/${name}`))!;
  const manifest = readFileSync(`${folder}/node_modules/${name}/package.json`, 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

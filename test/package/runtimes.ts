import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';

/** A runtime of JavaScript beside Node, of 95 MB: it runs TypeScript as it is. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** The package of npm with the program for each platform, and where it lies there. */
  readonly packages: Readonly<Record<string, string>>;
  readonly file: string;
  /** What stands before the name of a file that it shall run. */
  readonly args: readonly string[];
}

export const BUN: Runtime = {
  name: 'Bun',
  version: '1.4.5',
  packages: {
    'linux-x64': '@oven/bun-linux-x64',
    'linux-arm64': '@oven/bun-linux-aarch64',
    'darwin-x64': '@oven/bun-darwin-x64',
    'darwin-arm64': '@oven/bun-darwin-aarch64',
  },
  file: 'bin/bun',
  args: ['run'],
};

export const DENO: Runtime = {
  name: 'Deno',
  version: '2.9.6',
  packages: {
    'linux-x64': '@deno/linux-x64-glibc',
    'linux-arm64': '@deno/linux-arm64-glibc',
    'darwin-x64': '@deno/darwin-x64',
    'darwin-arm64': '@deno/darwin-arm64',
  },
  file: 'deno',
  args: ['run', '-A', '--sloppy-imports'],
};

const KEPT = resolve('.cache/runtimes');
const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** Where the program of a runtime is, once it was got; or why this machine cannot have it. */
export async function programOf(runtime: Runtime): Promise<{ program: string; missing?: string }> {
  const { name, version, packages, file } = runtime;
  const wanted = packages[`${process.platform}-${process.arch}`];
  if (wanted === undefined || isMusl())
    return { program: '', missing: `no ${name} for this platform` };
  const kept = join(KEPT, `${name.toLowerCase()}-${version}`);
  const program = join(kept, 'node_modules', wanted, file);
  if (existsSync(program)) return { program };
  mkdirSync(KEPT, { recursive: true });
  const half = mkdtempSync(`${kept}-`);
  try {
    const install = ['install', '--no-save', ...QUIET, '--prefix', half, `${wanted}@${version}`];
    await promisify(execFile)('npm', install, { cwd: half, env: outsideNpm(), timeout: 300_000 });
    if (!existsSync(program)) renameSync(half, kept);
  } catch (error) {
    if (process.env['CI']) throw error;
    return { program: '', missing: `npm could not get ${name} ${version}` };
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return { program };
}

function isMusl(): boolean {
  const { header } = process.report.getReport() as { header: Record<string, string> };
  return process.platform === 'linux' && header['glibcVersionRuntime'] === undefined;
}

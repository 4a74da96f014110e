import { spawnSync } from 'node:child_process';
import { run } from './run.mjs';

/** The programs that the tests start. */
const PROGRAMS = ['openssl', ...(process.env.REDIS_SERVER ? [] : ['redis-server'])];

/** Debian's packages of what a part may need beside them. */
const NEEDS = {
  'c++': ['g++', 'libhiredis-dev'],
  go: ['golang-go'],
  jvm: ['default-jdk-headless', 'maven'],
  promtool: ['prometheus'],
  python: ['python3-venv'],
  spin: ['spin', 'gcc', 'libc6-dev'],
};

/** Programs that often come from elsewhere than Debian, by their packages. */
const ELSEWHERE = { 'golang-go': 'go' };

function isHere(name) {
  const program = ELSEWHERE[name];
  if (program && spawnSync('which', [program]).status === 0) return true;
  return spawnSync('dpkg', ['-s', name]).status === 0;
}

/**
 * Installs what the parts need and is not here, where nobody has to be asked. The tests name what is still missing.
 */
export async function installPackages(parts) {
  const needs = new Set(parts.flatMap((part) => part.needs ?? []));
  const groups = [
    PROGRAMS.filter((name) => spawnSync('which', [name]).status !== 0),
    ...[...needs].map((need) => NEEDS[need].filter((name) => !isHere(name))),
  ].filter((missing) => missing.length > 0);
  if (groups.length === 0) return;
  const words = groups.map((missing) => missing.join(','));
  await run(process.execPath, ['tools/install-debian.mjs', ...words]);
}

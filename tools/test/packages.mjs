import { spawnSync } from 'node:child_process';
import { run } from './run.mjs';

/** The programs that the tests start. */
const PROGRAMS = ['openssl', ...(process.env.REDIS_SERVER ? [] : ['redis-server'])];

/** Debian's packages of the clients in other languages that test/dialects shares locks with. */
const FOREIGN_CLIENTS = [
  'php-cli',
  'php-illuminate-cache',
  'php-illuminate-redis',
  'php-redis',
  'php-symfony-lock',
  'python3-redis',
];

/** Installs what the tests need and is not here, where nobody has to be asked. What is still missing, they name. */
export async function installPackages() {
  const groups = [
    PROGRAMS.filter((name) => spawnSync('which', [name]).status !== 0),
    FOREIGN_CLIENTS.filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0),
  ].filter((missing) => missing.length > 0);
  if (groups.length === 0) return;
  const words = groups.map((missing) => missing.join(','));
  await run(process.execPath, ['tools/install-debian.mjs', ...words]);
}

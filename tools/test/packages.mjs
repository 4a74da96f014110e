import { spawnSync } from 'node:child_process';
import { run } from './run.mjs';

/** The programs that the tests start. */
const PROGRAMS = ['openssl', ...(process.env.REDIS_SERVER ? [] : ['redis-server'])];

/** Debian's packages of the clients in other languages that test/dialects shares locks with. */
const FOREIGN_CLIENTS = [
  'php-cli',
  'php-illuminate-cache',
  'php-redis',
  'php-symfony-lock',
  'python3-redis',
];

/** Installs what the tests need and is not here, where nobody has to be asked. What is still missing, they name. */
export async function installPackages() {
  await install(PROGRAMS.filter((name) => spawnSync('which', [name]).status !== 0));
  await install(FOREIGN_CLIENTS.filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0));
}

async function install(missing) {
  if (missing.length === 0) return;
  const code = await run(process.execPath, ['tools/install-debian.mjs', ...missing]);
  if (code !== 0) process.stderr.write(`✗ ${missing.join(', ')} could not be installed.\n`);
}

import { execFileSync, spawnSync } from 'node:child_process';

/** Debian's packages of the clients in other languages that test/dialects shares locks with. */
const PACKAGES = [
  'php-cli',
  'php-illuminate-cache',
  'php-redis',
  'php-symfony-lock',
  'python3-redis',
];

/** Installs what is missing where nobody has to be asked (Debian, as root). Tests skip by name what is not there. */
export function installForeignClients() {
  const missing = PACKAGES.filter((name) => spawnSync('dpkg', ['-s', name]).status !== 0);
  if (missing.length === 0 || process.getuid?.() !== 0) return;
  if (spawnSync('which', ['apt-get']).status !== 0) return;
  process.stderr.write(`\n— installing ${missing.join(', ')} …\n`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  };
  try {
    execFileSync('apt-get', ['update', '-qq'], options);
    execFileSync(
      'apt-get',
      ['install', '-y', '-qq', '--no-install-recommends', ...missing],
      options,
    );
  } catch {
    process.stderr.write('✗ They could not be installed: their tests are skipped.\n');
  }
}

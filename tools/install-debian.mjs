// Installs Debian's packages where nobody has to be asked (Debian, as root): node tools/install-debian.mjs <package>…
import { execFileSync, spawnSync } from 'node:child_process';

const packages = process.argv.slice(2);
if (process.getuid?.() === 0 && spawnSync('which', ['apt-get']).status === 0) {
  process.stderr.write(`\n— installing ${packages.join(', ')} …\n`);
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }, // nothing is started
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...packages];
  try {
    execFileSync('apt-get', ['update', '-qq'], options);
    execFileSync('apt-get', install, options);
  } catch {
    process.exitCode = 1;
  }
}

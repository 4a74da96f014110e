// Installs Debian's packages where nobody has to be asked (Debian, as root), each group apart from the others:
// node tools/install-debian.mjs <package>[,<package>…]…
import { execFileSync, spawnSync } from 'node:child_process';

const groups = process.argv.slice(2).map((group) => group.split(','));
if (process.getuid?.() === 0 && spawnSync('which', ['apt-get']).status === 0) {
  process.stderr.write(`\n— installing ${groups.flat().join(', ')} …\n`);
  run('update', '-qq');
  for (const packages of groups) {
    if (run('install', '-y', '-qq', '--no-install-recommends', ...packages)) continue;
    process.stderr.write(`✗ ${packages.join(', ')} could not be installed.\n`);
    process.exitCode = 1;
  }
}

/** Whether apt-get did it. */
function run(...words) {
  try {
    execFileSync('apt-get', words, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }, // nothing is started
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 300_000,
    });
    return true;
  } catch {
    return false;
  }
}

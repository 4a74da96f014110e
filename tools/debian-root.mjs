// Unpacks packages of a release of Debian, with all that they need, into a folder; nothing is installed:
// node tools/debian-root.mjs <folder> <suite> <package>…
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * @throws Error where this machine is no Debian or does not reach its mirror, or the suite does not have a package.
 */
export function unpackDebian(root, suite, packages) {
  const apt = `${root}.apt`;
  for (const each of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(apt, each), { recursive: true });
  }
  const site = run('apt-get', ['indextargets', '--format', '$(SITE)'])
    .split('\n')
    .find((each) => each.endsWith('/debian'));
  if (!site) throw new Error('apt-get knows no mirror of Debian here.');
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(join(apt, 'sources.list'), `deb [signed-by=${key}] ${site} ${suite} main\n`);
  writeFileSync(join(apt, 'status'), '');
  writeFileSync(
    join(apt, 'apt.conf'),
    `Dir::State::Lists "${apt}/lists"; Dir::State::status "${apt}/status"; Dir::Cache "${apt}/cache";
Dir::Etc::SourceList "${apt}/sources.list"; Dir::Etc::SourceParts "/dev/null"; Acquire::Languages "none";\n`,
  );
  const env = { APT_CONFIG: join(apt, 'apt.conf') };
  run('apt-get', ['update', '-qq'], env);
  const words = ['-qq', '-y', '--download-only', '--no-install-recommends'];
  run('apt-get', ['install', ...words, ...packages], env);
  const archives = join(apt, 'cache/archives');
  for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
    run('dpkg-deb', ['-x', join(archives, file), root]);
  }
  rmSync(apt, { recursive: true });
}

/** What runs a program of an unpacked release, in a shell: with that release's libraries, down to the loader. */
export function runUnpacked(root, program) {
  const find =
    'ls lib*/ld-linux* lib/*/ld-linux* usr/lib*/ld-linux* usr/lib/*/ld-linux* 2>/dev/null';
  const loader = run('sh', ['-c', `cd "${root}" && ${find} | head -1`]).trim();
  const [triplet] = readdirSync(join(root, 'usr/lib')).filter((each) =>
    each.endsWith('-linux-gnu'),
  );
  const libraries = ['lib', 'usr/lib'].map((each) => join(root, each, triplet));
  return `${join(root, loader)} --library-path ${libraries.join(':')} ${program}`;
}

function run(command, args, env = {}) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
    timeout: 600_000,
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder, suite, ...packages] = process.argv.slice(2);
  unpackDebian(resolve(folder), suite, packages);
  process.stdout.write(runUnpacked(resolve(folder), ''));
}

// Completes package-lock.json: npm leaves optional packages of other platforms out (npm/cli#4828),
// and `npm ci` then refuses the file. They are added without integrity, which the next npm on such
// a platform fills in. Run after `npm install`, with the folders of other projects as operands; does nothing when nothing is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'win32'];
const CPUS = ['arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];
const LIBCS = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

for (const folder of ['.', ...process.argv.slice(2)]) complete(join(folder, 'package-lock.json'));

function complete(file) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  for (const [place, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const found = [`${place}/node_modules/${name}`, `node_modules/${name}`];
      const platform = platformOf(name);
      if (!platform || found.some((path) => path in lock.packages)) continue;
      lock.packages[`node_modules/${name}`] = { version, ...platform, dev, optional: true };
      process.stdout.write(`${name}@${version}\n`);
    }
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

/** What a package is built for, by its name: `@swc/core-linux-x64-musl`; undefined if it names no system. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = SYSTEMS.filter((system) => words.includes(system));
  if (os.length === 0) return undefined;
  const libc = words.flatMap((word) => LIBCS[word] ?? []);
  return {
    os,
    cpu: CPUS.filter((cpu) => words.includes(cpu)),
    ...(libc.length > 0 && { libc }),
  };
}

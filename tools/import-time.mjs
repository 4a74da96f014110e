// What importing the package costs beside its peers: node tools/import-time.mjs [pairs]. Each of the two is imported by a
// process of its own, in turns; times are of the whole process in ms, and processor time, which others on the machine disturb less.
import { execFileSync, spawnSync } from 'node:child_process';

const PEERS = ['reflect-metadata', '@nestjs/common', '@nestjs/core', 'rxjs', 'ioredis'];
const SUBJECTS = { 'the peers alone': PEERS, 'and the package': [...PEERS, 'nest-redis-lock'] };
const pairs = Number(process.argv[2] ?? 20);

execFileSync(process.execPath, ['tools/build.mjs'], { stdio: 'inherit' });
const names = Object.keys(SUBJECTS);
const times = Object.fromEntries(names.map((name) => [name, { wall: [], processor: [] }]));
for (let pair = 0; pair < pairs; pair += 1) {
  for (const name of pair % 2 === 0 ? names : names.toReversed()) {
    const { wall, processor } = imported(SUBJECTS[name]);
    times[name].wall.push(wall);
    times[name].processor.push(processor);
  }
}
const rows = ['wall', 'processor'].flatMap((kind) => {
  const [base, both] = names.map((name) => summary(times[name][kind]));
  return [
    [`${kind}: ${names[0]}`, base.least, base.median],
    [`${kind}: ${names[1]}`, both.least, both.median],
    [`${kind}: ×`, both.least / base.least, both.median / base.median],
  ];
});
process.stdout.write('| | minimum | median |\n|---|---|---|\n');
for (const [name, ...figures] of rows) {
  const said = figures.map((figure) => figure.toFixed(figure < 10 ? 2 : 0));
  process.stdout.write(`| ${name} | ${said.join(' | ')} |\n`);
}

/** What a process takes that imports the packages and ends, in ms. */
function imported(packages) {
  const imports = packages.map((name) => `import '${name}';`).join('');
  const code = `${imports} const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1_000));`;
  const started = performance.now();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', code],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return { wall: performance.now() - started, processor: Number(stdout) };
}

function summary(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  return { least: sorted[0], median: sorted[Math.floor(sorted.length / 2)] };
}

// What importing the package costs beside its peers: node tools/import-time.mjs [pairs]. Each of the two is imported by a
// process of its own, in turns; times are of the whole process in ms, and processor time, which others on the machine disturb less.
// `--json`: of the dist that is there, as JSON.
import { execFileSync, spawnSync } from 'node:child_process';

const PEERS = ['reflect-metadata', '@nestjs/common', '@nestjs/core', 'rxjs', 'ioredis'];
const SUBJECTS = { alone: PEERS, both: [...PEERS, 'nest-redis-lock'] };
const TITLES = { alone: 'the peers alone', both: 'and the package' };
const json = process.argv.includes('--json');
const pairs = Number(process.argv[2] ?? 20);

if (!json) execFileSync(process.execPath, ['tools/build.mjs'], { stdio: 'inherit' });
const names = Object.keys(SUBJECTS);
const times = Object.fromEntries(names.map((name) => [name, { wall: [], processor: [] }]));
for (let pair = 0; pair < pairs; pair += 1) {
  for (const name of pair % 2 === 0 ? names : names.toReversed()) {
    const { wall, processor } = imported(SUBJECTS[name]);
    times[name].wall.push(wall);
    times[name].processor.push(processor);
  }
}
process.stdout.write(json ? JSON.stringify(figures()) : text());

function figures() {
  const of = (kind) => {
    const [alone, both] = names.map((name) => times[name][kind]);
    const ratios = both.map((time, pair) => time / alone[pair]);
    return { alone: median(alone), both: median(both), ratio: median(ratios) };
  };
  return { wall: of('wall'), processor: of('processor') };
}

function text() {
  const rows = ['wall', 'processor'].flatMap((kind) => {
    const least = names.map((name) => Math.min(...times[name][kind]));
    const { alone, both, ratio } = figures()[kind];
    return [
      [`${kind}: ${TITLES.alone}`, least[0], alone],
      [`${kind}: ${TITLES.both}`, least[1], both],
      [`${kind}: ×`, least[1] / least[0], ratio],
    ];
  });
  const lines = rows.map(([name, ...figure]) => {
    const said = figure.map((each) => each.toFixed(each < 10 ? 2 : 0));
    return `| ${name} | ${said.join(' | ')} |\n`;
  });
  return `| | minimum | median |\n|---|---|---|\n${lines.join('')}`;
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

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

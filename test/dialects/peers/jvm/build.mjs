// Gets the libraries for the JVM by Maven, and compiles their drivers against them, when pom.xml or a source has changed
// since: node build.mjs <folder> <profile>…
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** After so many ms nobody builds any more who began. */
const PATIENCE = 600_000;

const [folder, ...profiles] = process.argv
  .slice(2)
  .map((word, at) => (at === 0 ? resolve(word) : word));
const POM = join(import.meta.dirname, 'pom.xml');
const pom = readFileSync(POM, 'utf8');
const sources = readdirSync(join(import.meta.dirname, 'src/main/java/peers')).map((file) =>
  join(import.meta.dirname, 'src/main/java/peers', file),
);
const state = [pom, ...sources.map((file) => readFileSync(file, 'utf8'))].join('\n');

alone(join(folder, 'building'), () => {
  for (const profile of profiles) build(join(folder, profile), profile);
});

function build(target, profile) {
  once(join(target, 'lib'), pom, (lib) =>
    run(
      'mvn',
      '-B',
      '-q',
      '-f',
      POM,
      '-P',
      profile,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${lib}`,
    ),
  );
  once(join(target, 'classes'), state, (classes) =>
    run(
      'javac',
      '-nowarn',
      '-Xmaxerrs',
      '5',
      '--release',
      '17',
      '-cp',
      join(target, 'lib', '*'),
      '-d',
      classes,
      ...sources,
    ),
  );
}

/** Makes a folder unless it was made of the same. */
function once(made, of, make) {
  const note = `${made}.made`;
  if (read(note) === of) return;
  rmSync(note, { force: true });
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  make(made);
  writeFileSync(note, of);
}

/** Runs `task` while nobody else does; who dies meanwhile is waited for no longer than PATIENCE. */
function alone(mark, task) {
  mkdirSync(folder, { recursive: true });
  for (;;) {
    try {
      mkdirSync(mark);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const since = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (since > 0 && Date.now() - since > PATIENCE)
        rmSync(mark, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    task();
  } finally {
    rmSync(mark, { recursive: true, force: true });
  }
}

function run(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(`${program} ended with ${status}: ${stdout}${stderr}`);
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

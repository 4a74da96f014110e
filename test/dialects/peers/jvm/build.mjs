// Gets the libraries for the JVM by Maven, and compiles their drivers against them, when pom.xml or a source has changed
// since: node build.mjs <folder> <profile>…
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

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
  once(join(target, 'lib'), pom, (lib) => {
    const project = ['-f', POM, '-P', profile];
    run('mvn', '-Bq', ...project, 'dependency:copy-dependencies', `-DoutputDirectory=${lib}`);
  });
  once(join(target, 'classes'), state, (classes) => {
    const path = ['-cp', join(target, 'lib', '*'), '-d', classes];
    run('javac', '-nowarn', '-Xmaxerrs', '5', '--release', '17', ...path, ...sources);
  });
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

/** Runs `task` while no other process does; one that died meanwhile is waited for no longer. */
function alone(mark, task) {
  mkdirSync(folder, { recursive: true });
  while (!took(mark)) {
    if (!lives(Number(read(mark)))) rmSync(mark, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  try {
    task();
  } finally {
    rmSync(mark);
  }
}

function took(mark) {
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/** Whether a process is there; of one that has not said which it is, that it is. */
function lives(pid) {
  if (!pid) return true;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
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

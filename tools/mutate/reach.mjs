import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { globSync } from '../glob.mjs';
import { withConstants } from '../lua.mjs';
import { inLanes } from './lanes.mjs';

/** Specs that have no part in the behaviour of lib at run time, or build all of it. */
const UNRELATED = /^test\/(architecture|package|readme|sample|types|bench)\//;
const BUNDLES = 'tools/mutate/bundles';
/** Those that are recorded and tried first: a promise belongs there. */
const FOLDERS = [
  'mutate',
  'unit',
  'contracts',
  'fencing',
  'testing',
  'nest',
  'transports',
  'dialects',
];
const TRANSFORM = {
  '^.+\\.ts$': '<rootDir>/tools/mutate/transform-with-map.mjs',
  '^.+\\.lua$': '<rootDir>/tools/jest-lua.mjs',
  '^.+\\.html$': '<rootDir>/tools/jest-page.mjs',
};

/** Instead of a set of tests: all of the spec. */
const WHOLE = -1;

/**
 * Which tests reach a line of lib, recorded by running each spec once; a spec's record stays until the spec or its contract
 * changes. Of Lua, what counts is the whole file. Where a file has changed since, every line of it counts as reached by all.
 */
export class Reach {
  #records = {};

  /** `trials` are the copies in which specs are recorded, at the same time. */
  constructor(folder, trials) {
    this.trials = trials;
    this.root = trials[0].folder;
    this.folder = join(folder, 'reach');
    mkdirSync(this.folder, { recursive: true });
  }

  /** Records what is missing of the specs so named; `said` hears of each. */
  async record(named, said) {
    const inTrial = (folder, ending) =>
      globSync(join(this.root, folder), ending).map((file) => relative(this.root, file));
    const specs = [...inTrial(BUNDLES, '.spec.ts'), ...inTrial('test', '.spec.ts')]
      .filter((spec) => named.test(spec) && !UNRELATED.test(spec))
      .sort((a, b) => rankOf(a) - rankOf(b));
    await inLanes(this.trials, specs, async (trial, spec, at) => {
      const place = join(this.folder, `${spec.replaceAll('/', '.')}.${this.#markOf(spec)}.json`);
      if (!existsSync(place)) {
        const record = await recordOf(spec, trial);
        writeFileSync(place, JSON.stringify(record));
        said(at + 1, specs.length, spec, record.ms, !record.red);
      }
      this.#records[spec] = JSON.parse(readFileSync(place, 'utf8'));
    });
  }

  /**
   * The tests that reach a mutant, by spec, without the specs that it has been tried on, as long as they fit into `budget` ms:
   * first the specs that have many contracts in one file or the name of the mutant's, then the likeliest to find it for
   * their time; how long they take, and how many specs are left out.
   */
  testsFor({ id, file, source, line }, budget, outcomes) {
    const tried = outcomes.of(id)?.ran ?? [];
    const mark = digestOf(source);
    const namesake = `/${basename(file, extname(file))}.spec.ts`;
    const weight = (spec) => (spec.startsWith(BUNDLES) || spec.endsWith(namesake) ? 100 : 1);
    const reaching = Object.entries(this.#records)
      .filter(([spec]) => !tried.includes(spec))
      .map(([spec, record]) => this.#reaching(spec, record, file, line, mark))
      .filter(({ tests }) => tests.length > 0)
      .map((each) => {
        const chance = weight(each.spec) * outcomes.chanceOf(each.spec, file);
        return { ...each, worth: chance / each.ms };
      })
      .sort((a, b) => b.worth - a.worth);
    const chosen = [];
    let ms = 0;
    for (const { spec, tests, ms: each } of reaching) {
      if (chosen.length > 0 && ms + each > budget) continue;
      const finds = (test) => outcomes.findsOf(spec, test.name, file);
      const ordered = tests.toSorted((a, b) => finds(b) - finds(a) || a.ms - b.ms);
      chosen.push({ spec, tests: ordered });
      ms += each;
    }
    return { chosen, ms, left: reaching.length - chosen.length };
  }

  /** The tests of one spec that reach a line, and how long they take with the start of the spec. A red spec says nothing. */
  #reaching(spec, { red, ms, tests, sets, files, scripts }, file, line, mark) {
    const none = { spec, tests: [], ms };
    if (red) return none;
    let set;
    if (file.endsWith('.lua')) set = scripts[file];
    else if (files[file]?.mark !== mark) set = files[file] && WHOLE;
    else set = files[file].spans.find(([from, to]) => from <= line && line <= to)?.[2];
    if (set === undefined) return none;
    const reached = set === WHOLE ? tests : sets[set].map((index) => tests[index]);
    const left = sum(tests) - sum(reached);
    return { spec, tests: reached, ms: ms - left };
  }

  /** Of the spec as it is tried, and of its contract. */
  #markOf(spec) {
    const at = (path) => join(this.root, path);
    const contracts = spec.startsWith(BUNDLES)
      ? globSync(at('test/contracts'), '.contract.ts')
      : [at(spec.replace('.spec.ts', '.contract.ts'))].filter(existsSync);
    return digestOf(Buffer.concat([at(spec), ...contracts].map((file) => readFileSync(file))));
  }
}

async function recordOf(spec, trial) {
  const reach = join(trial.folder, 'build', 'reach.json');
  const ran = join(trial.folder, 'build', 'scripts.jsonl');
  let red;
  for (let time = 0; time < 2; time += 1) {
    rmSync(reach, { force: true });
    rmSync(ran, { force: true });
    const run = await trial.run([spec], {
      args: [
        '--testEnvironment=<rootDir>/tools/mutate/recording.mjs',
        '--setupFilesAfterEnv=<rootDir>/tools/mutate/trace-scripts.mjs',
        `--transform=${JSON.stringify(TRANSFORM)}`,
      ],
      env: { SCRIPTS_RAN: ran, REACH: reach },
      limit: 600_000,
    });
    red = run.green ? undefined : (run.red ?? 'it does not run');
    if (!red) return { ms: run.ms, ...reachIn(reach, ran, trial.folder) };
  }
  return { ms: 0, red };
}

function rankOf(spec) {
  const at = FOLDERS.indexOf(spec.split('/')[1]);
  return at < 0 ? FOLDERS.length : at;
}

function digestOf(text) {
  return createHash('sha1').update(text).digest('hex').slice(0, 10);
}

function sum(tests) {
  return tests.reduce((all, { ms }) => all + ms, 0);
}

/** What was written down, with each set of tests once. `files` has spans of lines, `scripts` the Lua files; each names a set. */
function reachIn(reach, ran, folder) {
  const { tests, lines } = JSON.parse(readFileSync(reach, 'utf8'));
  const known = new Map();
  const sets = [];
  const setOf = (indexes) => {
    if (indexes.some((index) => index < 0)) return WHOLE;
    const key = indexes.join(' ');
    if (!known.has(key)) known.set(key, sets.push(indexes) - 1);
    return known.get(key);
  };
  const files = {};
  for (const [file, byLine] of lines) {
    const spans = [];
    for (const [line, indexes] of byLine.toSorted(([a], [b]) => a - b)) {
      const [last, set] = [spans.at(-1), setOf(indexes)];
      if (last?.[2] === set && last[1] + 1 === line) last[1] = line;
      else spans.push([line, line, set]);
    }
    files[file] = { mark: digestOf(readFileSync(join(folder, file))), spans };
  }
  const scripts = {};
  for (const [file, names] of scriptsIn(ran, folder)) {
    scripts[file] = setOf(names.map((name) => tests.findIndex((test) => test.name === name)));
  }
  return { tests, sets, files, scripts };
}

/** The Lua files whose code was in a script that ran, and the tests that ran it. */
function scriptsIn(place, folder) {
  if (!existsSync(place)) return [];
  const ran = readFileSync(place, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
  return globSync(join(folder, 'lib'), '.lua').flatMap((file) => {
    const text = withConstants(readFileSync(file, 'utf8'));
    const holding = ran.filter(({ source }) =>
      file.includes('/includes/')
        ? text.split('\n\n').some((part) =>
            source.includes(
              part
                .split(/^--- @include.*\n/m)
                .at(-1)
                .trim(),
            ),
          )
        : text.split(/^--- @include.*\n/m).every((part) => source.includes(part.trim())),
    );
    const names = new Set(holding.flatMap(({ tests }) => tests));
    return names.size > 0 ? [[relative(folder, file), [...names]]] : [];
  });
}

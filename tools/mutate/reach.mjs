import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { globSync } from '../glob.mjs';

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

/**
 * Which specs reach a line of lib, recorded by running each spec once with coverage; a spec's record stays until the
 * spec or its contract changes. `lines` are those of TypeScript, `scripts` the Lua files whose text it ran.
 * Where a file has changed since, every line of it counts as reached.
 */
export class Reach {
  #records = {};

  constructor(folder, trial) {
    this.trial = trial;
    this.folder = join(folder, 'reach');
    mkdirSync(this.folder, { recursive: true });
  }

  /** Records what is missing of the specs so named; `said` hears of each. */
  async record(named, said) {
    const inTrial = (folder, ending) =>
      globSync(join(this.trial.folder, folder), ending).map((file) =>
        relative(this.trial.folder, file),
      );
    const specs = [...inTrial(BUNDLES, '.spec.ts'), ...inTrial('test', '.spec.ts')]
      .filter((spec) => named.test(spec) && !UNRELATED.test(spec))
      .sort((a, b) => rankOf(a) - rankOf(b));
    for (const [at, spec] of specs.entries()) {
      const place = join(this.folder, `${spec.replaceAll('/', '.')}.${this.#markOf(spec)}.json`);
      if (!existsSync(place)) {
        writeFileSync(place, JSON.stringify(await this.#recordOf(spec)));
        const { ms, red } = JSON.parse(readFileSync(place, 'utf8'));
        said(at + 1, specs.length, spec, ms, !red);
      }
      this.#records[spec] = JSON.parse(readFileSync(place, 'utf8'));
    }
  }

  /**
   * Of the specs that reach a mutant, and have not been tried, those that fit into `budget` ms: those that have many
   * contracts in one file or the name of the mutant's, then the likeliest to find it for their time; how long they take,
   * and how many are left out.
   */
  specsFor({ id, file, source, line }, budget, outcomes) {
    const tried = outcomes.of(id)?.ran ?? [];
    const mark = digestOf(source);
    const namesake = `/${basename(file, extname(file))}.spec.ts`;
    const weight = (spec) => (spec.startsWith(BUNDLES) || spec.endsWith(namesake) ? 100 : 1);
    const worth = (spec) => (weight(spec) * outcomes.chanceOf(spec, file)) / this.#records[spec].ms;
    const reaching = Object.keys(this.#records)
      .filter(
        (spec) => !tried.includes(spec) && this.#reaches(this.#records[spec], file, line, mark),
      )
      .map((spec) => [spec, worth(spec)])
      .sort(([, a], [, b]) => b - a);
    const specs = [];
    let ms = 0;
    for (const [spec] of reaching) {
      if (specs.length > 0 && ms + this.#records[spec].ms > budget) continue;
      specs.push(spec);
      ms += this.#records[spec].ms;
    }
    return { specs, ms, left: reaching.length - specs.length };
  }

  /** A spec that is red without any mistake says nothing. */
  #reaches({ red, scripts, lines }, file, line, mark) {
    if (red) return false;
    if (file.endsWith('.lua')) return scripts.includes(file);
    const known = lines[file];
    if (!known) return false;
    return known.mark !== mark || known.ranges.some(([from, to]) => from <= line && line <= to);
  }

  /** Of the spec as it is tried, and of its contract. */
  #markOf(spec) {
    const at = (path) => join(this.trial.folder, path);
    const contracts = spec.startsWith(BUNDLES)
      ? globSync(at('test/contracts'), '.contract.ts')
      : [at(spec.replace('.spec.ts', '.contract.ts'))].filter(existsSync);
    return digestOf(Buffer.concat([at(spec), ...contracts].map((file) => readFileSync(file))));
  }

  async #recordOf(spec) {
    const coverage = join(this.trial.folder, 'build', 'coverage');
    const ran = join(this.trial.folder, 'build', 'scripts.jsonl');
    let red;
    for (let time = 0; time < 2; time += 1) {
      rmSync(coverage, { recursive: true, force: true });
      rmSync(ran, { force: true });
      const run = await this.trial.run([spec], {
        args: [
          '--coverage',
          '--coverageReporters=json',
          `--coverageDirectory=${coverage}`,
          '--setupFilesAfterEnv=<rootDir>/tools/mutate/trace-scripts.mjs',
        ],
        env: { SCRIPTS_RAN: ran, TO_THE_END: '1' },
        limit: 600_000,
      });
      red = run.green ? undefined : (run.red ?? 'it does not run');
      if (!red) {
        return {
          ms: run.ms,
          lines: linesIn(join(coverage, 'coverage-final.json'), this.trial.folder),
          scripts: filesIn(ran, this.trial.folder),
        };
      }
    }
    return { ms: 0, red, lines: {}, scripts: [] };
  }
}

function rankOf(spec) {
  const at = FOLDERS.indexOf(spec.split('/')[1]);
  return at < 0 ? FOLDERS.length : at;
}

function digestOf(text) {
  return createHash('sha1').update(text).digest('hex').slice(0, 10);
}

/** Covered lines as ranges, for each file, and how it stood then. */
function linesIn(report, folder) {
  if (!existsSync(report)) return {};
  const lines = {};
  for (const [path, { statementMap, s }] of Object.entries(JSON.parse(readFileSync(report)))) {
    const covered = Object.keys(s)
      .filter((key) => s[key] > 0)
      .map((key) => statementMap[key].start.line)
      .sort((a, b) => a - b);
    const ranges = [];
    for (const line of covered) {
      const last = ranges.at(-1);
      if (last && line <= last[1] + 1) last[1] = line;
      else ranges.push([line, line]);
    }
    const file = relative(folder, path);
    if (ranges.length > 0) lines[file] = { mark: digestOf(readFileSync(path)), ranges };
  }
  return lines;
}

/** The Lua files whose code was in a script that ran. */
function filesIn(place, folder) {
  if (!existsSync(place)) return [];
  const sources = readFileSync(place, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
  return globSync(join(folder, 'lib'), '.lua')
    .filter((file) => {
      const parts = readFileSync(file, 'utf8').split(/^--- @include.*\n/m);
      return sources.some((source) => parts.every((part) => source.includes(part.trim())));
    })
    .map((file) => relative(folder, file));
}

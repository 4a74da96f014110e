import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { globSync } from '../glob.mjs';
import { inlineIncludes } from '../lua.mjs';
import { runJest } from './jest.mjs';

/** Specs that have no part in the behaviour of lib at run time, or build all of it. */
const UNRELATED = /^test\/(architecture|package|readme|sample|types|bench)\//;

/** How much of a mutant's recorded time is spent on its specs, in ms: what is left over would take hours. */
const BUDGET = 150_000;

/**
 * Which specs reach a line of lib, recorded by running each spec once with coverage; a spec's record stays until the
 * spec itself changes. `lines` are those of TypeScript, `scripts` the Lua files whose scripts it ran.
 */
export class Reach {
  #records = {};

  constructor(folder) {
    this.folder = join(folder, 'reach');
    mkdirSync(this.folder, { recursive: true });
  }

  /** Records what is missing; `said` hears of each spec. */
  async record(said) {
    const specs = globSync('test', '.spec.ts').filter((spec) => !UNRELATED.test(spec));
    const scripts = scriptFiles();
    for (const [at, spec] of specs.entries()) {
      const mark = createHash('sha1').update(readFileSync(spec)).digest('hex').slice(0, 10);
      const place = join(this.folder, `${spec.replaceAll('/', '.')}.${mark}.json`);
      if (!existsSync(place)) {
        writeFileSync(place, JSON.stringify(await recordOf(spec, scripts, this.folder)));
      }
      this.#records[spec] = JSON.parse(readFileSync(place, 'utf8'));
      said(at + 1, specs.length, spec);
    }
  }

  /** The specs that reach a mutant, the quickest first, and how long they take in ms. */
  specsFor({ file, line }) {
    const reaching = Object.entries(this.#records)
      .filter(([, record]) =>
        file.endsWith('.lua')
          ? record.scripts.includes(file)
          : record.lines[file]?.some(([from, to]) => from <= line && line <= to),
      )
      .sort(([, a], [, b]) => a.ms - b.ms);
    const specs = [];
    let ms = 0;
    for (const [spec, record] of reaching) {
      if (specs.length > 0 && ms + record.ms > BUDGET) break;
      specs.push(spec);
      ms += record.ms;
    }
    return { specs, ms, left: reaching.length - specs.length };
  }
}

async function recordOf(spec, scripts, folder) {
  const coverage = join(folder, 'coverage');
  const ran = join(folder, 'scripts');
  rmSync(coverage, { recursive: true, force: true });
  writeFileSync(ran, '');
  const { ms } = await runJest('.', [spec], {
    args: [
      '--coverage',
      '--coverageReporters=json',
      `--coverageDirectory=${coverage}`,
      '--setupFilesAfterEnv=<rootDir>/tools/mutate/trace-scripts.mjs',
    ],
    env: { SCRIPTS_RAN: ran },
    limit: 300_000,
  });
  const shas = readFileSync(ran, 'utf8').split('\n').filter(Boolean);
  return {
    ms,
    lines: linesIn(join(coverage, 'coverage-final.json')),
    scripts: [...new Set(shas.flatMap((sha) => scripts.get(sha) ?? []))],
  };
}

/** Covered lines as ranges, for each file. */
function linesIn(report) {
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
    lines[relative('.', path)] = ranges;
  }
  return lines;
}

/** For the hash of each script as it is sent: its file and the files that it includes. */
function scriptFiles() {
  const files = new Map();
  for (const file of globSync('lib', '.lua')) {
    const met = new Set();
    const source = inlineIncludes(readFileSync(file, 'utf8'), met);
    const sha = createHash('sha1').update(source).digest('hex');
    files.set(sha, [file, ...[...met].map((name) => `lib/locks/includes/${name}.lua`)]);
  }
  return files;
}

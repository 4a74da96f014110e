import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mutatedSource } from './mutants.mjs';
import { runJest } from './jest.mjs';

const COPIED = ['lib', 'test', 'tools', 'sample', 'docs', 'README.md', 'CHANGELOG.md'];
const CONFIGURED = ['package.json', 'jest.config.mjs', 'nest-cli.json', '.swcrc'];
const COMPILED = ['tsconfig.json', 'tsconfig.build.json'];

/** A copy of the checkout in which mutants are tried, one after another; processes that tests start see them too. */
export class Trial {
  constructor(folder) {
    this.folder = resolve(folder);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    for (const name of [...COPIED, ...CONFIGURED, ...COMPILED].filter(existsSync)) {
      cpSync(name, join(this.folder, name), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !/(docs|bench)\/node_modules$/.test(path),
      });
    }
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** What came of the tests under the mistake: found and by which one, found by a time-out, survived, reached by none, or unclear. */
  async try(mutant, { chosen, ms, left }, before = []) {
    const started = performance.now();
    const ran = [...before];
    const flaky = [];
    const came = (outcome, more = {}) => ({
      outcome,
      ms: Math.round(performance.now() - started),
      ran,
      left,
      ...(flaky.length > 0 && { flaky }),
      ...more,
    });
    if (ran.length + chosen.length === 0) return came('unreached');
    const place = join(this.folder, mutant.file);
    const plant = () => writeFileSync(place, mutatedSource(mutant));
    const heal = () => writeFileSync(place, mutant.source);
    plant();
    try {
      let todo = chosen;
      while (todo.length > 0) {
        const run = await this.#tryTests(todo, ms);
        ran.push(...run.ran.filter((spec) => !ran.includes(spec)));
        if (run.green) break;
        // The last to begin may not come to its end, nor may a module load: neither names a test.
        const spec = run.red?.spec ?? run.ran.at(-1) ?? todo[0].spec;
        const suspect = this.#suspect(todo, spec, run);
        const again = await this.#tryTests(suspect, ms);
        if (!again.green) {
          heal();
          const { green } = await this.#tryTests(suspect, ms);
          plant();
          if (green) return came(run.over ? 'timed out' : 'found', { by: run.red ?? { spec } });
        }
        flaky.push(run.red ?? { spec });
        todo = leftAfter(todo, spec, run);
      }
      if (flaky.length === 0) return came('survived');
      // Tried again on these another time.
      return came('unclear', {
        ran: ran.filter((spec) => !flaky.some((red) => red.spec === spec)),
      });
    } finally {
      heal();
    }
  }

  end() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  run(specs, settings) {
    return runJest(this.folder, specs, settings);
  }

  #tryTests(chosen, ms) {
    const file = join(this.folder, 'build', 'chosen.json');
    const limited = chosen.map(({ spec, tests }) => ({
      spec,
      tests: tests.map((test) => ({ name: test.name, limit: limitOf(test.ms) })),
    }));
    mkdirSync(join(this.folder, 'build'), { recursive: true });
    writeFileSync(file, JSON.stringify(limited));
    return this.run(
      chosen.map(({ spec }) => spec),
      {
        args: ['--testEnvironment=<rootDir>/tools/mutate/until-red.mjs'],
        env: { CHOSEN_TESTS: file },
        limit: 60_000 + 5 * ms,
      },
    );
  }

  /**
   * A machine that has much to do turns a test red now and then. A mistake does so twice, and without it the test is green:
   * the test, or where none was red those of the spec that were not done, or all if only its end went wrong.
   */
  #suspect(chosen, spec, { red, done }) {
    const { tests } = chosen.find((each) => each.spec === spec);
    const wanted = red
      ? ({ name }) => name === red.test
      : ({ name }) => !done.some((each) => each.spec === spec && each.done === name);
    const left = tests.filter(wanted);
    return [{ spec, tests: left.length > 0 ? left : tests }];
  }
}

/** How long a test may take under a mistake, by how long it takes without: what hangs costs so much. */
function limitOf(ms) {
  return 8_000 + 5 * ms;
}

/** What is not done of the chosen tests after one of `spec` was red, or none came to its end, for another reason than the mistake. */
function leftAfter(chosen, spec, { red, done }) {
  const isDone = (name) => done.some((each) => each.spec === spec && each.done === name);
  return chosen
    .slice(chosen.findIndex((each) => each.spec === spec))
    .map((each) => {
      if (each.spec !== spec) return each;
      if (!red) return { spec, tests: [] };
      return { spec, tests: each.tests.filter(({ name }) => name !== red.test && !isDone(name)) };
    })
    .filter(({ tests }) => tests.length > 0);
}

import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mutatedSource } from './mutants.mjs';
import { runJest } from './jest.mjs';

const COPIED = ['lib', 'test', 'tools', 'sample', 'docs', 'README.md', 'CHANGELOG.md'];
const CONFIGURED = ['package.json', 'jest.config.mjs', 'nest-cli.json', '.swcrc'];
const COMPILED = ['tsconfig.json', 'tsconfig.cjs.json', 'tsconfig.esm.json'];

/** A copy of the checkout in which mutants are tried, one after another; processes that tests start see them too. */
export class Trial {
  constructor(folder) {
    this.folder = resolve(folder);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    for (const name of [...COPIED, ...CONFIGURED, ...COMPILED].filter(existsSync)) {
      cpSync(name, join(this.folder, name), { recursive: true, verbatimSymlinks: true });
    }
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** What came of the specs under the mistake: found and by which test, found by a time-out, survived, or reached by none. */
  async try(mutant, { specs, ms, left }, before = []) {
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
    if (ran.length + specs.length === 0) return came('unreached');
    const place = join(this.folder, mutant.file);
    writeFileSync(place, mutatedSource(mutant));
    try {
      let todo = specs;
      while (todo.length > 0) {
        const limit = 45_000 + 5 * ms;
        const run = await this.run(todo, { limit });
        ran.push(...run.ran.filter((spec) => !ran.includes(spec)));
        if (run.green) break;
        if (run.over) return came('timed out', { by: { spec: run.ran.at(-1) } });
        // Some other reason than a test: a module that does not load.
        if (!run.red) return came('found', { by: { spec: run.ran.at(-1) ?? todo[0] } });
        if (!(await this.#isRedAgain(run.red, ms))) {
          flaky.push(run.red);
          todo = todo.slice(todo.indexOf(run.red.spec) + 1);
          continue;
        }
        return came('found', { by: run.red });
      }
      return came('survived');
    } finally {
      writeFileSync(place, mutant.source);
    }
  }

  end() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  run(specs, settings) {
    return runJest(this.folder, specs, settings);
  }

  /** A machine that has much to do turns a test red now and then; a mistake does so twice. */
  async #isRedAgain({ spec, test }, ms) {
    const pattern = `^${test.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}$`;
    const { green } = await this.run([spec], { args: ['-t', pattern], limit: 45_000 + 5 * ms });
    return !green;
  }
}

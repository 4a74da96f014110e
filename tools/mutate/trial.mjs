import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mutatedSource } from './mutants.mjs';
import { runJest } from './jest.mjs';

const COPIED = ['lib', 'test', 'tools', 'sample', 'package.json', 'tsconfig.json'];
const CONFIGURED = ['tsconfig.cjs.json', 'tsconfig.esm.json', 'jest.config.mjs', '.swcrc'];

/** A copy of the checkout in which mutants are tried, one after another; processes that tests start see them too. */
export class Trial {
  constructor(folder) {
    this.folder = resolve(folder);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    for (const name of [...COPIED, ...CONFIGURED]) {
      cpSync(name, join(this.folder, name), { recursive: true, verbatimSymlinks: true });
    }
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** What came of the specs under the mistake: found, found by a time-out, survived, or reached by none. */
  async try(mutant, { specs, ms }) {
    if (specs.length === 0) return 'unreached';
    const place = join(this.folder, mutant.file);
    writeFileSync(place, mutatedSource(mutant));
    try {
      const limit = 60_000 + 3 * ms;
      const { code } = await runJest(this.folder, specs, { args: ['--bail=1'], limit });
      return code === undefined ? 'timed out' : code === 0 ? 'survived' : 'found';
    } finally {
      cpSync(mutant.file, place);
    }
  }

  /** True if the specs pass without a mistake: else nothing can be said of those with one. */
  async calm(specs) {
    const { code } = await runJest(this.folder, specs, { limit: 600_000 });
    return code === 0;
  }
}

// Jest's environment while mutants are tried: writes down each spec, and the first red test, at which it ends everything.
import { TestEnvironment } from 'jest-environment-node';
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class UntilRed extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.spec = relative(config.projectConfig.rootDir, context.testPath);
    this.started = performance.now();
  }

  async teardown() {
    note({ spec: this.spec, ms: performance.now() - this.started });
    await super.teardown();
  }

  handleTestEvent(event) {
    if (event.name === 'run_start') note({ spec: this.spec });
    if (event.name !== 'test_done' || event.test.errors.length === 0) return;
    const [error] = event.test.errors.flat();
    const said = String(error?.message ?? error).slice(0, 300);
    note({ spec: this.spec, test: nameOf(event.test), said });
    if (!process.env.TO_THE_END) process.kill(process.pid, 'SIGKILL');
  }
}

function note(what) {
  appendFileSync(process.env.TEST_LOG, `${JSON.stringify(what)}\n`);
}

/** As Jest's -t reads it. */
function nameOf(test) {
  const names = [];
  for (let at = test; at?.parent; at = at.parent) names.unshift(at.name);
  return names.join(' ');
}

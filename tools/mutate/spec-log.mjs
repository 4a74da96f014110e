import { TestEnvironment } from 'jest-environment-node';
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Jest's environment that writes down each spec, each test that has ended, and why a red one is red: one line of JSON each. */
export class SpecLog extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.spec = relative(config.projectConfig.rootDir, context.testPath);
    this.started = performance.now();
  }

  async teardown() {
    this.note({ ms: performance.now() - this.started });
    await super.teardown();
  }

  handleTestEvent(event) {
    if (event.name === 'run_start') this.note({});
    if (event.name !== 'test_done') return;
    const done = nameOf(event.test);
    const [error] = event.test.errors.flat();
    const red = error && String(error?.message ?? error).slice(0, 300);
    this.note(event.test.errors.length > 0 ? { test: done, said: red ?? 'no error' } : { done });
  }

  note(what) {
    appendFileSync(process.env.TEST_LOG, `${JSON.stringify({ spec: this.spec, ...what })}\n`);
  }
}

/** As Jest prints it: the names of its describes, then its own. */
export function nameOf(test) {
  const names = [];
  for (let at = test; at?.parent; at = at.parent) names.unshift(at.name);
  return names.join(' ');
}

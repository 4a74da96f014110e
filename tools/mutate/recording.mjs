// Jest's environment while reach is recorded: writes down which tests ran which line of lib.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineCoverage } from './line-coverage.mjs';
import { nameOf, SpecLog } from './spec-log.mjs';

/** Stands for what no single test ran: modules that load, hooks of all, what goes on between two tests. */
const AROUND = -1;

export default class Recording extends SpecLog {
  #tests = [];
  #byFile = new Map();

  constructor(config, context) {
    super(config, context);
    this.coverage = new LineCoverage(join(config.projectConfig.rootDir, 'lib'));
  }

  handleTestEvent(event) {
    super.handleTestEvent(event);
    if (event.name === 'test_start') {
      this.#take(AROUND);
      this.testStarted = performance.now();
    }
    if (event.name === 'test_done') {
      this.#take(this.#tests.length);
      const ms = Math.ceil(performance.now() - this.testStarted);
      this.#tests.push({ name: nameOf(event.test), ms });
    }
  }

  async teardown() {
    this.#take(AROUND);
    this.coverage.end();
    const lines = [...this.#byFile].map(([file, byLine]) => [
      file,
      [...byLine].map(([line, tests]) => [line, [...tests]]),
    ]);
    writeFileSync(process.env.REACH, JSON.stringify({ tests: this.#tests, lines }));
    await super.teardown();
  }

  #take(test) {
    for (const [file, lines] of this.coverage.take()) {
      const byLine = this.#byFile.get(file) ?? new Map();
      this.#byFile.set(file, byLine);
      for (const line of lines) byLine.set(line, (byLine.get(line) ?? new Set()).add(test));
    }
  }
}

import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What came of each mutant, one line of JSON each; the last that is said of one counts. */
export class Outcomes {
  #byId = new Map();

  constructor(folder) {
    mkdirSync(folder, { recursive: true });
    this.place = join(folder, 'outcomes.jsonl');
    const lines = existsSync(this.place) ? readFileSync(this.place, 'utf8').split('\n') : [];
    for (const line of lines.filter(Boolean)) {
      const outcome = JSON.parse(line);
      this.#byId.set(outcome.id, outcome);
    }
  }

  of(id) {
    return this.#byId.get(id);
  }

  forget(id) {
    this.#byId.delete(id);
  }

  add({ id, file, line, rule, was, text }, came) {
    const outcome = { id, file, line, rule, was, text, ...came };
    this.#byId.set(id, outcome);
    appendFileSync(this.place, `${JSON.stringify(outcome)}\n`);
  }

  /** How likely a spec finds a mistake in a file, by what it did for others there, and anywhere. */
  chanceOf(spec, file) {
    const all = { tried: 1, found: 0.3 };
    const here = { tried: 1, found: 0 };
    for (const outcome of this.#byId.values()) {
      if (!outcome.ran?.includes(spec)) continue;
      for (const count of outcome.file === file ? [all, here] : [all]) {
        count.tried += 1;
        if (outcome.by?.spec === spec) count.found += 1;
      }
    }
    return (here.found + all.found / all.tried) / here.tried;
  }

  /** How many mistakes in a file a test has found. */
  findsOf(spec, test, file) {
    let finds = 0;
    for (const { by, file: where } of this.#byId.values()) {
      if (where === file && by?.spec === spec && by.test === test) finds += 1;
    }
    return finds;
  }
}

// Jest's environment while a mutant is tried: runs the chosen tests of each spec alone, and ends everything at the first red one.
import { readFileSync } from 'node:fs';
import { nameOf, SpecLog } from './spec-log.mjs';

export default class UntilRed extends SpecLog {
  handleTestEvent(event, state) {
    if (event.name === 'run_start') this.#choose(state.rootDescribeBlock);
    super.handleTestEvent(event);
    if (event.name === 'test_done' && event.test.errors.length > 0) {
      process.kill(process.pid, 'SIGKILL');
    }
  }

  /** Leaves the chosen tests, each with its time limit; siblings come in the order in which the first under each is chosen. */
  #choose(root) {
    const chosen = JSON.parse(readFileSync(process.env.CHOSEN_TESTS, 'utf8'));
    const { tests } = chosen.find(({ spec }) => spec === this.spec);
    const ranks = new Map(tests.map(({ name }, rank) => [name, rank]));
    const prune = (block) => {
      const ranked = block.children
        .map((child) => {
          if (child.type === 'describeBlock') return { child, rank: prune(child) };
          const rank = ranks.get(nameOf(child)) ?? Infinity;
          if (rank < Infinity) child.timeout = tests[rank].limit;
          return { child, rank };
        })
        .filter(({ rank }) => rank < Infinity)
        .sort((a, b) => a.rank - b.rank);
      block.children = ranked.map(({ child }) => child);
      return ranked[0]?.rank ?? Infinity;
    };
    prune(root);
  }
}

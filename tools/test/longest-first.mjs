import Sequencer from '@jest/test-sequencer';

/** What takes minutes, or in the quick run half of one, the longest first: at the end the others would wait for it. */
const LONGEST = [
  'dialects/both-ways/(redisson|spring)',
  'package/installed',
  'model',
  'faults/(leaders|replicas|split-brain|server-loss)',
  'dialects/(jvm|process-crowds|guard|turns|sleepers|timestamp|quorum)',
  'faults/(skewed-cron|histories|leaks|durability|health|contention)',
  'dialects/both-ways',
  'package',
  'contracts/(cancellation|hints|quorum|hand-over|memory-matches)',
  'docs/(site|pasted|rights)',
  'board',
].map((path) => new RegExp(`/test/${path}`));

/** Jest's order, in which files come first that took long before, and in a new clone those that are large. */
export default class extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = LONGEST.findIndex((each) => each.test(path));
      return found < 0 ? LONGEST.length : found;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
}

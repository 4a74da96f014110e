import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** By the id of a survivor: `equivalent`, and why it is no gap in the tests; or what would show it. */
const REASONS = 'tools/mutate/survivors.json';

/** Writes what came of a sample to `survivors.md` in `folder`; returns the sum in a few lines. */
export function writeReport(sample, outcomes, folder) {
  const reasons = existsSync(REASONS) ? JSON.parse(readFileSync(REASONS, 'utf8')) : {};
  const count = (...kinds) =>
    sample.filter(({ id }) => kinds.includes(outcomes.of(id)?.outcome)).length;
  const found = count('found', 'timed out');
  const tried = found + count('survived', 'unreached');
  const equivalent = sample.filter(
    ({ id }) => outcomes.of(id)?.outcome === 'survived' && reasons[id]?.startsWith('equivalent'),
  ).length;
  const rows = sample
    .filter(({ id }) => ['survived', 'unreached'].includes(outcomes.of(id)?.outcome))
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line))
    .map(
      ({ id, file, line, rule, was, text }) =>
        `| ${id} | ${file}:${line} | ${rule} | \`${cell(was)}\` → \`${cell(text)}\` | ${outcomes.of(id).outcome} | ${reasons[id] ?? ''} |`,
    );
  const share = ((100 * found) / (tried - equivalent)).toFixed(1);
  const sum = `${tried} of ${sample.length} mutants tried. ${equivalent} are equivalent; of the others ${found} were found (${share} %), ${count('timed out')} of them by a time-out, ${count('survived') - equivalent} survived, ${count('unreached')} no spec reached.\n`;
  const table = [
    '| mutant | where | rule | mistake | outcome | why |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
  writeFileSync(join(folder, 'survivors.md'), `# Mutation run\n\n${sum}\n${table.join('\n')}\n`);
  return sum;
}

function cell(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'").slice(0, 80);
}

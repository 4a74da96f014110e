import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why a survivor is no gap in the tests, or what would show it: by its id. */
const REASONS = 'tools/mutate/survivors.json';

/** Writes what came of a sample to `survivors.md` in `folder`; returns the sum in a few lines. */
export function writeReport(sample, outcomes, folder) {
  const reasons = existsSync(REASONS) ? JSON.parse(readFileSync(REASONS, 'utf8')) : {};
  const count = (...kinds) => sample.filter(({ id }) => kinds.includes(outcomes[id])).length;
  const found = count('found', 'timed out');
  const rows = sample
    .filter(({ id }) => outcomes[id] === 'survived' || outcomes[id] === 'unreached')
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line))
    .map(
      ({ id, file, line, rule, was, text }) =>
        `| ${id} | ${file}:${line} | ${rule} | \`${cell(was)}\` → \`${cell(text)}\` | ${outcomes[id]} | ${reasons[id] ?? ''} |`,
    );
  const share = ((100 * found) / sample.length).toFixed(1);
  const sum = `${found} of ${sample.length} mutants found (${share} %), ${count('timed out')} of them by a time-out; ${count('survived')} survived, ${count('unreached')} no spec reached.\n`;
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

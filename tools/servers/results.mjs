import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** What came of each part on each server when it was last run there. */
const KEPT = 'docs/servers.json';
/** The page that shows it, and between which lines. */
const PAGE = 'docs/servers.md';
const TABLE = /(?<=<!-- written by npm run test:servers -->\n)[^]*?(?=<!-- end -->)/;

/** By the name of a server, then by that of a part: how many tests passed, failed and were skipped, and on which day. */
export function readResults() {
  return existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {};
}

/** Keeps what came of a part on a server, and writes the table of the page anew. */
export function keepResult(servers, parts, server, part, { passed, failed, skipped }) {
  const results = readResults();
  const day = new Date().toISOString().slice(0, 10);
  results[server] = { ...results[server], [part]: { passed, failed, skipped, day } };
  const names = servers.map(({ name }) => name).filter((name) => results[name]);
  const kept = Object.fromEntries(names.map((name) => [name, results[name]]));
  writeFileSync(KEPT, `${JSON.stringify(kept, undefined, 2)}\n`);
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, page.replace(TABLE, `\n${tableOf(kept, parts).join('\n')}\n\n`));
}

/** The lines of a Markdown table of results, a server in each row. */
export function tableOf(results, parts) {
  const lastDay = (row) =>
    Object.values(row).reduce((last, { day }) => (day > last ? day : last), '');
  return [
    `| server | ${parts.join(' | ')} | last run |`,
    `|---|${parts.map(() => '---:|').join('')}---|`,
    ...Object.entries(results).map(
      ([name, row]) =>
        `| ${name} | ${parts.map((part) => cell(row[part])).join(' | ')} | ${lastDay(row)} |`,
    ),
  ];
}

function cell(result) {
  if (!result) return '–';
  const { passed, failed } = result;
  return failed > 0 ? `${passed}, **${failed} failed**` : String(passed);
}

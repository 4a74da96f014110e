import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { bySpec, removeGroups, specsOf, writeGroups } from './groups.mjs';
import { run } from './run.mjs';

const JEST = [
  '--disable-warning=ExperimentalWarning',
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
];

/** What Jest says on stderr, and is content, where tests left something open. */
const LEAKED = /^.*(failed to exit gracefully|did not exit).*$/m;

/**
 * Runs Jest over the `folders` of a part, or what it has `only`, under one pair of majors, at most `limit` ms, and
 * counts. As one failed test each count a folder in which no test ran, a file that could not be run, and a run that
 * ended badly without a failed test (it crashed or hung).
 * Named beside the count: each failed test, since what CI keeps of its output may lack the middle; and that tests left
 * something open, which counts as no failure: a worker has half a second to end, which a busy machine may not give it.
 */
export async function runJest(part, limit) {
  const { name, nest, ioredis, folders, only = folders } = part;
  process.stderr.write(`\n— ${name}: ${only.join(' ')}\n`);
  const scratch = mkdtempSync(join(tmpdir(), 'nest-redis-lock-jest-'));
  const report = join(scratch, 'report.json');
  let said = '';
  try {
    const code = await run(
      process.execPath,
      [
        ...JEST,
        '--json',
        `--outputFile=${report}`,
        '--runTestsByPath',
        ...(part.isGrouped ? writeGroups(specsOf(part)) : specsOf(part)),
      ],
      {
        env: { NEST: nest, IOREDIS: ioredis, ...part.env, GROUPED: '1' },
        limit,
        hear: (text) => (said += text),
      },
    );
    const { counts, complaints, failed, skips } = judge(read(report), folders, code, said);
    const wrong = [...complaints.map((each) => `${name}: ${each}`), ...failed];
    for (const each of wrong) process.stderr.write(`✗ ${each}\n`);
    return { counts, complaints: wrong, skips };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    removeGroups();
  }
}

function read(report) {
  try {
    return bySpec(JSON.parse(readFileSync(report, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The counts of a report, what is wrong with the run beside failed tests, and which tests failed and were skipped. */
export function judge(report, folders, code, said = '') {
  const complaints = folders
    .filter((folder) => !ranIn(report, folder))
    .map((folder) => `no test ran in ${folder}`);
  const broken = report?.numRuntimeErrorTestSuites ?? 0;
  if (broken > 0) complaints.push(...Array(broken).fill('a file could not be run'));
  if (code !== 0 && (report?.numFailedTests ?? 0) + complaints.length === 0) {
    complaints.push(`Jest ended with ${code}`);
  }
  const counts = {
    passed: report?.numPassedTests ?? 0,
    failed: (report?.numFailedTests ?? 0) + complaints.length,
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
  };
  const leaked = LEAKED.exec(said)?.slice(0, 1) ?? [];
  return {
    counts,
    complaints: [...complaints, ...leaked],
    failed: testsOf(report, 'failed'),
    skips: testsOf(report, 'pending', 'todo'),
  };
}

function testsOf(report, ...statuses) {
  return (report?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => statuses.includes(status))
      .map(({ fullName }) => `${relative('.', name)}: ${fullName}`),
  );
}

function ranIn(report, folder) {
  return report?.testResults.some(
    ({ name, assertionResults }) =>
      !relative(folder, name).startsWith('..') &&
      assertionResults.some(({ status }) => status === 'passed' || status === 'failed'),
  );
}

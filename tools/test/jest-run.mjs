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
 * That tests left something open is named beside the count: a worker has half a second to end, which a busy machine
 * may not give it.
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
    const { counts, complaints, skips } = judge(read(report), folders, code, said);
    const named = (each) => `${name}: ${each}`;
    for (const complaint of complaints) process.stderr.write(`✗ ${named(complaint)}\n`);
    return { counts, complaints: complaints.map(named), skips: skips.map(named) };
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

/** The counts of a report, what is wrong with the run beside failed tests, and which tests were skipped. */
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
  const leaked = LEAKED.exec(said);
  return {
    counts,
    complaints: leaked ? [...complaints, leaked[0]] : complaints,
    skips: skippedIn(report),
  };
}

function skippedIn(report) {
  return (report?.testResults ?? []).flatMap(({ assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map(({ fullName }) => fullName),
  );
}

function ranIn(report, folder) {
  return report?.testResults.some(
    ({ name, assertionResults }) =>
      !relative(folder, name).startsWith('..') &&
      assertionResults.some(({ status }) => status === 'passed' || status === 'failed'),
  );
}

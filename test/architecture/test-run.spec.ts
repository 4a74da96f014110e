import { describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { name: string; assertionResults: { status: string }[] }[];
}

type Judge = (
  report: Report | undefined,
  folders: string[],
  code: number | string,
  said?: string,
) => { counts: { passed: number; failed: number; skipped: number }; complaints: string[] };

const tool = '../../tools/test/jest-run.mjs';
const { judge } = (await import(tool)) as { judge: Judge };

function report(counts: Partial<Report> = {}, status = 'passed'): Report {
  const name = resolve('test/nest/some.spec.ts');
  return {
    numPassedTests: 3,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
    testResults: [{ name, assertionResults: [{ status }] }],
    ...counts,
  };
}

describe('a Jest run of npm test', () => {
  it('counts what passed, failed and was skipped', () => {
    const counts = { numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 };
    expect(judge(report(counts), ['test/nest'], 1).counts).toEqual({
      passed: 3,
      failed: 2,
      skipped: 2,
    });
  });

  it('is green when all passed', () => {
    expect(judge(report(), ['test'], 0)).toEqual({
      counts: { passed: 3, failed: 0, skipped: 0 },
      complaints: [],
    });
  });

  it('fails when one of its folders ran no test', () => {
    const { counts, complaints } = judge(report(), ['test/nest', 'test/faults'], 0);
    expect(counts.failed).toBe(1);
    expect(complaints).toEqual(['no test ran in test/faults']);
  });

  it('fails when all tests of a folder were skipped', () => {
    expect(judge(report({}, 'pending'), ['test/nest'], 0).counts.failed).toBe(1);
  });

  it('fails for each file that could not be run', () => {
    const broken = report({ numRuntimeErrorTestSuites: 2 });
    expect(judge(broken, ['test/nest'], 1).counts.failed).toBe(2);
  });

  it('names what tests left open, beside the count', () => {
    const left = 'A worker process has failed to exit gracefully and has been force exited.';
    const { counts, complaints } = judge(report(), ['test'], 0, `PASS some\n${left}\nTests: 3\n`);
    expect(counts.failed).toBe(0);
    expect(complaints).toEqual([left]);
  });

  it('fails when Jest crashed or hung, with or without a report', () => {
    expect(judge(undefined, ['test'], 'SIGKILL').counts.failed).toBe(1);
    expect(judge(report(), ['test'], 'SIGKILL').complaints).toEqual(['Jest ended with SIGKILL']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { filesBelow } from './files-below.js';

const tools = ['../../tools/test/jest-run.mjs', '../../tools/test/groups.mjs'];
const [{ judge }, { specsOf, bySpec }] = (await Promise.all(tools.map((each) => import(each)))) as [
  { judge: Judge },
  Groups,
];

describe('a Jest run of npm test', () => {
  it('counts what passed, failed and was skipped', () => {
    const counts = { numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 };
    expect(judge(report(counts), ['test/nest'], 1).counts).toEqual({
      passed: 3,
      failed: 2,
      skipped: 2,
    });
  });

  it('names what was skipped', () => {
    const { skips } = judge(report({}, 'pending'), ['test'], 0);
    expect(skips).toEqual(['test/nest/some.spec.ts: a lock is free']);
  });

  it('names what failed', () => {
    const { failed } = judge(report({ numFailedTests: 1 }, 'failed'), ['test'], 1);
    expect(failed).toEqual(['test/nest/some.spec.ts: a lock is free']);
  });

  it('is green when all passed', () => {
    expect(judge(report(), ['test'], 0)).toEqual({
      counts: { passed: 3, failed: 0, skipped: 0 },
      complaints: [],
      failed: [],
      skips: [],
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

it('the report of a group names each spec, and what its tests are called there', () => {
  const test = (path: string, status: string) => ({
    ancestorTitles: [path, 'a lock'],
    fullName: `${path} a lock is free`,
    status,
  });
  const [free, held] = ['test/unit/free.spec.ts', 'test/unit/held.spec.ts'];
  const { testResults } = bySpec({
    testResults: [
      {
        name: resolve('test/.groups/unit-1.ts'),
        assertionResults: [test(free!, 'passed'), test(held!, 'pending')],
      },
    ],
  });
  const shown = testResults.map(({ name, assertionResults }) => [name, assertionResults]);
  const as = (status: string) => [
    { ancestorTitles: ['a lock'], fullName: 'a lock is free', status },
  ];
  expect(shown).toEqual([
    [resolve(free!), as('passed')],
    [resolve(held!), as('pending')],
  ]);
});

describe('npm test and npm run test:full', () => {
  it('together run every spec', async () => {
    const parts = '../../tools/test/parts.mjs';
    const { PARTS } = (await import(parts)) as { PARTS: Record<'quick' | 'full', Part[]> };
    const specs = filesBelow('test', '.spec.ts').filter(
      (path) => !/node_modules|package.consumers/.test(path), // whose own Jest runs them
    );
    const run = new Set([...PARTS.quick, ...PARTS.full].flatMap(specsOf));
    expect(specs.length).toBeGreaterThan(100);
    expect(specs.filter((spec) => !run.has(spec))).toEqual([]);
  });
});

function report(counts: Partial<Report> = {}, status = 'passed'): Report {
  const name = resolve('test/nest/some.spec.ts');
  return {
    numPassedTests: 3,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
    testResults: [{ name, assertionResults: [{ fullName: 'a lock is free', status }] }],
    ...counts,
  };
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}

type Judge = (
  report: Report | undefined,
  folders: string[],
  code: number | string,
  said?: string,
) => {
  counts: { passed: number; failed: number; skipped: number };
  complaints: string[];
  failed: string[];
  skips: string[];
};

interface Part {
  folders: string[];
  only?: string[];
  skip?: string[];
}

interface Groups {
  readonly specsOf: (part: Part) => string[];
  readonly bySpec: (report: object) => Report;
}

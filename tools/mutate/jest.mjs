import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const JEST = [
  '--disable-warning=ExperimentalWarning',
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
  '--runInBand',
  '--silent',
  '--testTimeout=30000', // what hangs costs so much
];
const ORDERED = [
  '--testEnvironment=<rootDir>/tools/mutate/until-red.mjs',
  '--testSequencer=<rootDir>/tools/mutate/in-order.mjs',
  '--bail=1',
  '--testMatch=<rootDir>/{test,tools/mutate}/**/*.spec.ts',
];

/**
 * Runs `specs` in the checkout `folder`, one after another, until a test is red; what they leave behind ends with them.
 * Returns the red test if one was named, the specs that ran, and whether they were all green, or took longer than `limit` ms.
 */
export async function runJest(folder, specs, { args = [], env = {}, limit }) {
  const scratch = join(folder, 'build', 'scratch');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const log = join(scratch, 'log.jsonl');
  const child = spawn(
    process.execPath,
    [...JEST, ...ORDERED, ...args, '--runTestsByPath', ...specs],
    {
      cwd: folder,
      env: {
        ...process.env,
        TMPDIR: scratch,
        SPECS_IN_ORDER: specs.join(' '),
        TEST_LOG: log,
        ...env,
      },
      stdio: 'ignore',
      detached: true, // its servers and workers are of its group
    },
  );
  const group = -Number(child.pid);
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    process.kill(group, 'SIGKILL');
  }, limit);
  const stop = () => {
    process.kill(group, 'SIGKILL');
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  const code = await new Promise((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)));
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
  clearTimeout(timer);
  try {
    process.kill(group, 'SIGKILL');
  } catch {
    // Nothing was left behind.
  }
  const said = existsSync(log)
    ? readFileSync(log, 'utf8').split('\n').filter(Boolean).map(JSON.parse)
    : [];
  return {
    red: said.find(({ test }) => test),
    ran: [...new Set(said.map(({ spec }) => spec))],
    green: code === 0 && !over,
    over,
    /** Of the last that came to its end, without the start of Jest. */
    ms: said.findLast(({ ms }) => ms)?.ms,
  };
}

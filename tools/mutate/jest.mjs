import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const JEST = [
  '--disable-warning=ExperimentalWarning',
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
  '--runInBand',
  '--silent',
  '--testTimeout=30000',
];
const ORDERED = [
  '--testSequencer=<rootDir>/tools/mutate/in-order.mjs',
  '--bail=1',
  '--testMatch=<rootDir>/{test,tools/mutate}/**/*.spec.ts',
];

/** The process groups of what runs: each with its servers and workers. */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const group of running) process.kill(group, 'SIGKILL');
    process.exit(1);
  });
}

/**
 * Runs `specs` in the checkout `folder`, one after another; what they leave behind ends with them. Returns the red test if
 * one was named, the specs that ran, the tests that were green, and whether all were, or took longer than `limit` ms.
 */
export async function runJest(folder, specs, { args = [], env = {}, limit }) {
  const scratch = join(folder, 'build', 'scratch');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const log = join(scratch, 'log.jsonl');
  const cache = join(folder, 'build', 'cache');
  const child = spawn(
    process.execPath,
    [...JEST, ...ORDERED, `--cacheDirectory=${cache}`, ...args, '--runTestsByPath', ...specs],
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
      detached: true, // a group of its own
    },
  );
  const group = -Number(child.pid);
  running.add(group);
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    process.kill(group, 'SIGKILL');
  }, limit);
  const code = await new Promise((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)));
  clearTimeout(timer);
  running.delete(group);
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
    done: said.filter(({ done }) => done),
    ran: [...new Set(said.map(({ spec }) => spec))],
    green: code === 0 && !over,
    over,
    /** Of the last that came to its end, without the start of Jest. */
    ms: said.findLast(({ ms }) => ms)?.ms,
  };
}

import { spawn } from 'node:child_process';

const JEST = [
  '--disable-warning=ExperimentalWarning',
  '--experimental-vm-modules',
  'node_modules/jest/bin/jest.js',
  '--maxWorkers=1',
  '--silent',
];

/** Runs `specs` in the checkout `folder`, one at a time; `code` is undefined where the limit, in ms, was over. */
export async function runJest(folder, specs, { args = [], env = {}, limit }) {
  const started = performance.now();
  const child = spawn(process.execPath, [...JEST, ...args, '--runTestsByPath', ...specs], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    detached: true, // its servers and workers end with it
  });
  const group = -Number(child.pid);
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    process.kill(group, 'SIGKILL');
  }, limit);
  const code = await new Promise((resolve) => child.once('exit', (exit) => resolve(exit ?? 1)));
  clearTimeout(timer);
  try {
    process.kill(group, 'SIGKILL');
  } catch {
    // Nothing was left behind.
  }
  return { code: over ? undefined : code, ms: performance.now() - started };
}

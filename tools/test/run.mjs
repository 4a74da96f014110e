import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs a command in sight of the user. Resolves with its exit code, or with the signal that ended it.
 * `hear` is told what it writes to stderr.
 */
export async function run(command, args, { cwd, env = {}, limit, hear } = {}) {
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', hear ? 'pipe' : 'inherit'],
    env: { ...process.env, ...env },
    timeout: limit,
    killSignal: 'SIGKILL',
  });
  child.stderr?.pipe(process.stderr, { end: false });
  child.stderr?.setEncoding('utf8').on('data', hear);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const outcome = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  // Whom it left behind may keep its stderr open.
  if (hear) await Promise.race([closed, sleep(1_000, undefined, { ref: false })]);
  child.stderr?.destroy();
  return outcome;
}

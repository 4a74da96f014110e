import { spawn } from 'node:child_process';

/** Runs a command in sight of the user. Resolves with its exit code, or with the signal that ended it. */
export function run(command, args, { env = {}, limit } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
      timeout: limit,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
}

// `node tools/busy.mjs [n] command …`: runs a command beside n busy processes (4 if none is named), which end with it.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const [first, ...rest] = process.argv.slice(2);
const count = /^\d+$/.test(first) ? Number(first) : 4;
const [command, ...args] = /^\d+$/.test(first) ? rest : [first, ...rest];

/** Never waits, fills a part of the caches, and ends when its parent is gone. */
const BUSY = `
  const parent = process.ppid;
  const numbers = new Float64Array(1 << 20);
  for (let round = 0; process.ppid === parent; round += 1) {
    for (let at = 0; at < numbers.length; at += 1) numbers[at] += Math.sqrt(round + at);
  }`;

const busy = Array.from({ length: count }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
);
const child = spawn(command, args, { stdio: 'inherit' });
child.once('error', (error) => end(1, error.message));
child.once('exit', (code, signal) => end(code ?? 128 + constants.signals[signal]));

function end(code, why) {
  if (why) process.stderr.write(`${why}\n`);
  for (const each of busy) each.kill('SIGKILL');
  process.exitCode = code;
}

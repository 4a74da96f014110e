import {
  type ChildProcess,
  fork,
  type ForkOptions,
  spawn,
  type SpawnOptions,
  spawnSync,
} from 'node:child_process';

/** What Linux starts behind these words is killed when its parent ends, however the parent ends and even where it is stopped. */
const BOUND = ['setpriv', '--pdeathsig', 'KILL'] as const;

/** Where these words are not known the children are killed only when their parent exits by itself. */
let words: readonly string[] | undefined;

const children = new Set<ChildProcess>();
const killAll = (): void => {
  for (const child of children) child.kill('SIGKILL');
};

/** Starts a program that ends with this process. */
export function startChild(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const [first, ...rest] = [...bound(), program, ...args];
  return watched(spawn(first!, rest, options));
}

/** Starts a module of Node, with a channel of messages, that ends with this process. */
export function forkChild(
  module: string,
  args: readonly string[],
  { execArgv = [], ...options }: ForkOptions = {},
): ChildProcess {
  const [execPath, ...rest] = [...bound(), process.execPath, ...execArgv];
  return watched(fork(module, args, { ...options, execPath: execPath!, execArgv: rest }));
}

function bound(): readonly string[] {
  const [program, ...args] = BOUND;
  words ??= spawnSync(program, [...args, 'true']).status === 0 ? BOUND : [];
  return words;
}

function watched(child: ChildProcess): ChildProcess {
  if (child.pid === undefined) return child; // it did not start
  if (children.size === 0) process.once('exit', killAll);
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', killAll);
  });
  return child;
}

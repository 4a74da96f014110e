import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { run } from '../../lib/watch/cli/run.js';
import { type Streams, Terminal } from '../../lib/watch/cli/terminal.js';

/** What the program said, and how it ended. */
export interface Outcome {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How this machine is named where somebody holds a lock. */
export const HOST = hostname()
  .replaceAll(/[^\w-]/g, '-')
  .slice(-40);

/** Nothing of the machine's environment says where Redis is. */
const CLEAN = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(REDIS_|NODE_OPTIONS$|FORCE_COLOR$)/.test(name),
  ),
);

let built: string | undefined;

/** The command line program, bundled as in the package, for the present state of lib/. */
export function program(): string {
  built ??= execFileSync(process.execPath, ['tools/package/command.mjs'], { encoding: 'utf8' });
  return built;
}

const running = new Set<Command>();

/** Ends what a test that failed left behind. */
export async function endCommands(): Promise<void> {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
}

/** The program while it runs, without a terminal. */
export class Command {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(
    words: readonly string[],
    env: NodeJS.ProcessEnv = {},
    start: (file: string) => readonly [command: string, args: readonly string[]] = (file) => [
      process.execPath,
      [file, ...words],
    ],
  ) {
    const [command, args] = start(program());
    this.child = spawn(command, args, { env: { ...CLEAN, ...env }, stdio: 'pipe' });
    running.add(this);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      running.delete(this);
      const { stdout, stderr } = this;
      return { code: (code ?? signal) as Outcome['code'], stdout, stderr };
    });
  }
}

/**
 * The program on a terminal of its own, of 12 rows and 60 columns, as `script` makes one: what it draws and asks is in
 * `stdout`. It takes the shell's place, since a shell that stays hears Ctrl+C too, and some then end with 130.
 */
export function onTerminal(words: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  const quoted = (file: string): string =>
    [
      'stty rows 12 cols 60 && exec',
      process.execPath,
      file,
      ...words.map((word) => `'${word}'`),
    ].join(' ');
  return new Command([], env, (file) => ['script', ['-qefc', quoted(file), '/dev/null']]);
}

/** Runs the program to its end. */
export function command(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Outcome> {
  const { child, ended } = new Command(words, env);
  child.stdin!.end();
  return ended;
}

/** Runs the program in this process, where nothing depends on its being one of its own: it starts in no time. */
export async function inProcess(
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const said = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof said): Writable =>
    new Writable({
      write: (chunk, _, done) => {
        said[name] += String(chunk);
        done();
      },
    });
  const streams = { stdin: Readable.from([]), stdout: sink('stdout'), stderr: sink('stderr') };
  const code = await run(words, env, new Terminal(streams as unknown as Streams));
  return { code, ...said };
}

interface Answer {
  readonly code: Outcome['code'];
  readonly answer: any;
}

/** What it answers in JSON; its code is looked at apart. */
export async function asked(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Answer> {
  return answerOf(await command([...words, '--json'], env));
}

/** The same of the program in this process. */
export async function askedInProcess(
  words: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Answer> {
  return answerOf(await inProcess([...words, '--json'], env));
}

function answerOf({ code, stdout, stderr }: Outcome): Answer {
  if (stderr !== '') throw new Error(stderr);
  return { code, answer: JSON.parse(stdout) };
}

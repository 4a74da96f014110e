import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A script of the samples at work, as `npm run` starts it after the build. */
export class RunningSample {
  readonly exited: Promise<number>;
  #output = '';

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
    this.exited = once(child, 'close').then(([code]) => code as number);
  }

  static build(): void {
    execFileSync('npm', ['run', '--silent', 'build:sample']);
  }

  static start(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningSample {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
    return new RunningSample(child);
  }

  /** What it has written so far. */
  get output(): string {
    return this.#output;
  }

  /** The processes it has started that are alive. */
  get children(): number[] {
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
    return rows
      .split('\n')
      .map((row) => row.trim().split(/\s+/))
      .filter(([, parent, state]) => Number(parent) === this.child.pid && !state!.startsWith('Z'))
      .map(([pid]) => Number(pid));
  }

  async says(text: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = text.exec(this.#output);
      if (found) return found;
      const ended = await Promise.race([
        once(this.child.stdout!, 'data').then(() => false),
        this.exited.then(() => true),
      ]);
      if (ended && !text.test(this.#output)) {
        throw new Error(`It ended without saying ${text}:\n${this.#output}`);
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

export function isAlive(pid: number): boolean {
  const [state] = execFileSync('sh', ['-c', `ps -o stat= -p ${pid} || true`], { encoding: 'utf8' });
  return state !== undefined && state !== 'Z';
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkChild } from '../../tools/children.js';
import { compiledWorkers } from './compiled-workers.js';

/** What a replica does: the name of a file beside this one, whose `start` takes the options. */
export type Role =
  'leader-replica' | 'cron-replica' | 'draining-replica' | 'traced-replica' | 'listening-replica';

/** A Nest application in a process of its own: it can be stopped, frozen and killed like a real one. */
export class Replica {
  readonly exited: Promise<unknown>;
  #notes = '';

  private constructor(private readonly child: ChildProcess) {
    this.exited = once(child, 'exit');
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#notes += text));
  }

  /** Resolves when the application is up. */
  static async start(
    role: Role,
    options: Record<string, unknown>,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Replica> {
    const main = join(compiledWorkers(), 'test/support/replica-main.js');
    const child = forkChild(main, [role, JSON.stringify(options)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const replica = new Replica(child);
    await Promise.race([
      once(child, 'message'),
      replica.exited.then(() => {
        throw new Error(`A replica did not start.\n${replica.#notes}`);
      }),
    ]);
    return replica;
  }

  static startMany(count: number, ...args: Parameters<typeof Replica.start>): Promise<Replica[]> {
    return Promise.all(Array.from({ length: count }, () => Replica.start(...args)));
  }

  get pid(): number {
    return this.child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Shuts the application down as an orchestrator does. Rejects if it did not end by itself, or not well. */
  async terminate(): Promise<void> {
    const ended = once(this.child, 'exit') as Promise<[number | null, string | null]>;
    this.child.kill('SIGTERM');
    const [code, signal] = await ended;
    if (code !== 0 && signal !== 'SIGTERM') throw new Error(`${code} ${signal}\n${this.#notes}`);
  }
}

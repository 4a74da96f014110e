import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkChild } from '../../tools/children.js';
import type { LockCallOptions, RedisLockOptions } from '../../lib/engine/options/index.js';
import { compiledWorkers } from './compiled-workers.js';
import type { WorkerCommands } from './worker-main.js';

/** Callers of one process that want one lock again and again. */
export interface Contention {
  readonly key: string;
  readonly callers: number;
  /** On the monotonic clock. */
  readonly end: number;
  /** The longest critical section in ms. */
  readonly pause: number;
  /** The longest rest between two of them, in ms; none by default. */
  readonly rest?: number;
  readonly options?: LockCallOptions;
}

/** One critical section as its process saw it; times on the monotonic clock. */
export interface Section {
  readonly token: number;
  /** When it came to the server, in µs of its clock; undefined where its entry was told after its grant, or forgotten. */
  readonly came: number | undefined;
  readonly asked: number;
  readonly entered: number;
  readonly left: number;
  readonly released: boolean;
}

type Answer<Command extends keyof WorkerCommands> = Awaited<ReturnType<WorkerCommands[Command]>>;
type Call = { resolve(answer: unknown): void; reject(error: Error): void };

/** A process of its own that uses the library: it can be stopped and killed like a real one. */
export class Worker {
  readonly #calls = new Map<number, Call>();
  readonly exited: Promise<unknown>;
  #troubles: readonly string[] = [];
  #spinning: () => void = () => {};
  #next = 0;

  private constructor(private readonly child: ChildProcess) {
    this.exited = once(child, 'exit').then(() => {
      for (const call of this.#calls.values()) call.reject(new Error('The worker is gone.'));
    });
    child.on('message', (message) => this.#hear(message as Record<string, unknown>));
  }

  static async start(options: RedisLockOptions & { redis: string }): Promise<Worker> {
    const main = join(compiledWorkers(), 'test/support/worker-main.js');
    const child = forkChild(main, [JSON.stringify(options)], { execArgv: ['--expose-gc'] });
    const worker = new Worker(child);
    await Promise.race([
      once(child, 'message'),
      worker.exited.then(() => {
        throw new Error('A worker did not start.');
      }),
    ]);
    return worker;
  }

  static startMany(
    count: number,
    options: RedisLockOptions & { redis: string },
  ): Promise<Worker[]> {
    return Promise.all(Array.from({ length: count }, () => Worker.start(options)));
  }

  call<Command extends keyof WorkerCommands>(
    command: Command,
    ...args: Parameters<WorkerCommands[Command]>
  ): Promise<Answer<Command>> {
    const id = this.#next++;
    return new Promise<unknown>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.child.send({ id, command, args });
    }) as Promise<Answer<Command>>;
  }

  /** As `call('assertAfterStall', …)`; `spinning` resolves when the process may be stopped. */
  spin(lease: number, ms: number): { spinning: Promise<void>; outcome: Promise<string> } {
    const spinning = new Promise<void>((resolve) => (this.#spinning = resolve));
    return { spinning, outcome: this.call('assertAfterStall', lease, ms) };
  }

  get pid(): number {
    return this.child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Whether a SIGSTOP has arrived. */
  get isStopped(): boolean {
    const state = execFileSync('ps', ['-o', 'state=', '-p', String(this.pid)], {
      encoding: 'utf8',
    });
    return state.startsWith('T');
  }

  /** Rejects if the process had seen a rejection that nobody handled, or worse. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
    if (this.#troubles.length > 0) throw new Error(this.#troubles.join('\n'));
  }

  #hear(message: Record<string, unknown>): void {
    if (message['spinning']) return this.#spinning();
    if (message['troubles']) this.#troubles = message['troubles'] as string[];
    const call = this.#calls.get(message['id'] as number);
    this.#calls.delete(message['id'] as number);
    const error = message['error'] as { name: string; message: string } | undefined;
    if (error) call?.reject(Object.assign(new Error(error.message), { name: error.name }));
    else call?.resolve(message['answer']);
  }
}

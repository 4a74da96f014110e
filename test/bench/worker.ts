import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Turns, Window } from './measure/take-turns.js';
import type { Workload } from './workloads/index.js';

/** What a worker is told to do. */
export type Order =
  | { readonly step: 'open'; readonly adapter: string; readonly url: string }
  | {
      readonly step: 'run';
      readonly workload: Workload;
      readonly firstCaller: number;
      readonly window: Window;
    }
  | { readonly step: 'close' };

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

/** A process that plays one replica. */
export class Worker {
  readonly #child: ChildProcess;
  readonly #replies = new Map<number, (reply: Reply) => void>();
  #lastId = 0;

  constructor() {
    const main = fileURLToPath(new URL('./worker-main.js', import.meta.url));
    this.#child = fork(main, { serialization: 'advanced' });
    this.#child.on('message', (reply: Reply) => this.#replies.get(reply.id)?.(reply));
    this.#child.once('exit', (code) => {
      for (const answer of this.#replies.values()) {
        answer({ id: 0, error: `A worker ended with ${code}.` });
      }
    });
  }

  open(adapter: string, url: string): Promise<void> {
    return this.#tell<void>({ step: 'open', adapter, url });
  }

  run(
    workload: Workload,
    firstCaller: number,
    window: Window,
  ): Promise<Turns & { commands: number }> {
    return this.#tell({ step: 'run', workload, firstCaller, window });
  }

  close(): Promise<void> {
    return this.#tell<void>({ step: 'close' });
  }

  stop(): void {
    this.#child.kill();
  }

  #tell<T>(order: Order): Promise<T> {
    const id = (this.#lastId += 1);
    return new Promise<T>((resolve, reject) => {
      this.#replies.set(id, ({ answer, error }) => {
        this.#replies.delete(id);
        if (error === undefined) resolve(answer as T);
        else reject(new Error(error));
      });
      this.#child.send({ id, order });
    });
  }
}

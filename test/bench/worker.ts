import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ioredis, Servers } from './adapters/index.js';
import type { Part, Seat } from './kinds/index.js';

/** What a worker is told to do. */
export type Order =
  | { readonly step: 'open'; readonly adapter: string; readonly servers: Servers }
  | { readonly step: 'play'; readonly seat: Seat }
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

  constructor(readonly ioredis: Ioredis) {
    const main = fileURLToPath(new URL('./worker-main.js', import.meta.url));
    const hook = new URL('./measure/ioredis-5.js', import.meta.url).href;
    const execArgv = ['--expose-gc', ...(ioredis === 5 ? ['--import', hook] : [])];
    this.#child = fork(main, { serialization: 'advanced', execArgv });
    this.#child.on('message', (reply: Reply) => this.#replies.get(reply.id)?.(reply));
    this.#child.once('exit', (code) => {
      for (const answer of this.#replies.values()) {
        answer({ id: 0, error: `A worker ended with ${code}.` });
      }
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  open(adapter: string, servers: Servers): Promise<void> {
    return this.#tell<void>({ step: 'open', adapter, servers });
  }

  play(seat: Seat): Promise<Part> {
    return this.#tell({ step: 'play', seat });
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

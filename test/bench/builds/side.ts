import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cost, Work } from './work.js';

/** One of those that are compared, in a process of its own that lives through all rounds. */
export class Side {
  /** Rejects when the process ends. */
  readonly #ended: Promise<never>;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    this.#ended = once(child, 'exit').then(() => {
      throw new Error(`The process of ${name} ended.`);
    });
    this.#ended.catch(() => {}); // nobody may be waiting for an answer
  }

  /** @param name The folder of a build, perhaps with `@` and what watches it, or `raw`. */
  static async open(name: string, url: string, ioredis: string): Promise<Side> {
    const at = (file: string): URL => new URL(file, import.meta.url);
    const hooks = ['./peers.js', ...(ioredis === '5' ? ['../measure/ioredis-5.js'] : [])];
    const imported = hooks.flatMap((hook) => ['--import', at(hook).href]);
    const child = fork(fileURLToPath(at('./side-main.js')), [name, url], {
      execArgv: imported,
    });
    const side = new Side(name, child);
    await side.#answer();
    return side;
  }

  get pid(): number {
    return this.child.pid!;
  }

  async do(work: Work): Promise<Cost> {
    this.child.send(work);
    return (await this.#answer()) as Cost;
  }

  stop(): void {
    this.child.kill();
  }

  async #answer(): Promise<unknown> {
    const [answer] = (await Promise.race([once(this.child, 'message'), this.#ended])) as [unknown];
    return answer;
  }
}

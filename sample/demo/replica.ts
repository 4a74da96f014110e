import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('./replica-main.js', import.meta.url));

/** One replica of the bank, in a process of its own. */
export class Replica {
  readonly #process: ChildProcess;
  #url = '';

  constructor(redis: string) {
    this.#process = fork(MAIN, [redis]);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Resolves when it serves. */
  async ready(): Promise<void> {
    const exit = once(this.#process, 'exit').then(() => {
      throw new Error('A replica of the bank did not start.');
    });
    const [url] = await Promise.race([once(this.#process, 'message'), exit]);
    this.#url = url as string;
    exit.catch(() => {}); // from now on it may end
  }

  get(path: string): Promise<Response> {
    return fetch(this.#url + path);
  }

  post(path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** kill -9: no goodbye to anybody, and none to Redis. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('./replica-main.js', import.meta.url));

/** One replica of the bank, in a process of its own. */
export class Replica {
  private constructor(
    private readonly process: ChildProcess,
    private readonly url: string,
  ) {}

  static async start(redis: string): Promise<Replica> {
    const child = fork(MAIN, [redis]);
    const ready = once(child, 'message');
    const gone = once(child, 'exit').then(() => {
      throw new Error('A replica of the bank did not start.');
    });
    const [url] = (await Promise.race([ready, gone])) as [string];
    gone.catch(() => {});
    return new Replica(child, url);
  }

  get pid(): number {
    return this.process.pid!;
  }

  get(path: string): Promise<Response> {
    return fetch(this.url + path);
  }

  post(path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** kill -9: no goodbye to anybody, and none to Redis. */
  kill(): void {
    this.process.kill('SIGKILL');
  }
}

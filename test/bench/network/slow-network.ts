import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A network in front of a server, in a process of its own, that adds to every round trip. */
export class SlowNetwork {
  private constructor(
    readonly url: string,
    private readonly proxy: ChildProcess,
  ) {}

  /** @param roundTrip What it adds to each, in ms: half on the way there, half on the way back. */
  static async before(serverUrl: string, roundTrip: number): Promise<SlowNetwork> {
    const main = fileURLToPath(new URL('./delay-proxy-main.js', import.meta.url));
    const proxy = fork(main, [new URL(serverUrl).port, String(roundTrip / 2)]);
    const [port] = (await once(proxy, 'message')) as [number];
    return new SlowNetwork(`redis://127.0.0.1:${port}`, proxy);
  }

  close(): void {
    this.proxy.kill();
  }
}

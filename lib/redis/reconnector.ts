import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';

/** Delay in ms before connection attempt n. */
export function pauseBefore(attempt: number): number {
  return Math.min(25 * 2 ** Math.min(attempt, 5), 500) + Math.random() * 50;
}

/**
 * Connects one of our clients again when ioredis has ended it for good. ioredis does so when it is told to disconnect
 * while it looks for the server, as by a Sentinel's `+switch-master`, and when connecting throws. Then ioredis 5 may
 * even call a client ready that has no connection.
 */
export class Reconnector {
  #attempts = 0;
  #closed = false;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
  ) {
    client.on('end', () => this.#later());
    client.on('ready', () => {
      if (hasConnection(client)) this.#attempts = 0;
    });
  }

  /** Disconnects; from now on the end is our own. */
  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.client.disconnect();
  }

  #later(): void {
    if (this.#closed || this.#cancel) return;
    this.#attempts += 1;
    this.#cancel = this.clock.after(pauseBefore(this.#attempts), () => {
      this.#cancel = undefined;
      this.#connect();
    });
  }

  #connect(): void {
    const { client } = this;
    if (client.status === 'ready' && !hasConnection(client)) client.status = 'end';
    if (client.status === 'end') client.connect().catch(() => {}); // its end brings us back
  }
}

/** What ioredis 5 calls ready may be closed. */
function hasConnection({ stream }: Redis): boolean {
  return stream?.destroyed === false;
}

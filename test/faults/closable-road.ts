import { AbstractConnector, type RedisOptions } from 'ioredis';
import { createConnection, type Socket } from 'node:net';

/** A way to the server on which connecting can be made to throw: ioredis ends a client for good by that. */
export class Road extends AbstractConnector {
  static closed = false;
  /** How often somebody has come to the closed road. */
  static refused = 0;

  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super(100);
    this.#options = options as RedisOptions;
  }

  override async connect(): Promise<Socket> {
    if (Road.closed) {
      Road.refused += 1;
      throw new Error('the road is closed');
    }
    const { host = '127.0.0.1', port = 6379 } = this.#options;
    return (this.stream = createConnection({ host, port }));
  }

  static close(): void {
    Road.closed = true;
    Road.refused = 0;
  }
}

import { AbstractConnector, type RedisOptions } from 'ioredis';
import { createConnection, type Socket } from 'node:net';

/** A connector that can be made to throw: ioredis ends a client for good by that. */
export class RefusingConnector extends AbstractConnector {
  static refuses = false;
  /** How often somebody has come to it while it refuses. */
  static refused = 0;

  readonly #options: RedisOptions;

  constructor(options: unknown) {
    super(100);
    this.#options = options as RedisOptions;
  }

  override async connect(): Promise<Socket> {
    if (RefusingConnector.refuses) {
      RefusingConnector.refused += 1;
      throw new Error('connections are refused');
    }
    const { host = '127.0.0.1', port = 6379 } = this.#options;
    return (this.stream = createConnection({ host, port }));
  }

  static refuse(): void {
    RefusingConnector.refuses = true;
    RefusingConnector.refused = 0;
  }
}

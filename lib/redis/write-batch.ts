import type { Redis } from 'ioredis';

/** What ioredis writes to; not documented. */
interface Writable {
  readonly writable: boolean;
  write(text: string): unknown;
}

/**
 * Stands between ioredis and its socket, and makes commands leave in one write: those of one tick when
 * it ends, those of later ticks of the same turn of the event loop together when the turn ends.
 */
export class WriteBatch {
  #gathered = '';
  /** Where what is gathered belongs: after a reconnect nobody waits for its answers. */
  #stream: Writable | undefined;
  #wrote = false;

  constructor(private readonly client: Redis) {}

  /** Called by ioredis for each command. */
  write(wire: string): void {
    const { stream } = this.client as unknown as { stream: Writable };
    if (this.#stream !== stream) {
      this.#stream = stream;
      this.#gathered = '';
    }
    if (this.#gathered === '') this.#schedule();
    this.#gathered += wire;
  }

  /** Writes now what is gathered. */
  readonly flush = (): void => {
    const wire = this.#gathered;
    if (wire === '') return;
    this.#gathered = '';
    if (this.#stream!.writable) this.#stream!.write(wire);
  };

  #schedule(): void {
    if (this.#wrote) return;
    this.#wrote = true;
    process.nextTick(this.flush);
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#wrote = false;
    this.flush();
  };
}

import type { Redis } from 'ioredis';

/** How many commands are worth a write of their own while others are under way. */
const WORTH_A_WRITE = 4;

/** What ioredis writes to, and the commands that wait for their answers; not documented. */
interface Insides {
  readonly stream: Writable;
  readonly commandQueue: { readonly length: number };
}

interface Writable {
  readonly writable: boolean;
  write(text: string): unknown;
}

/**
 * Stands between ioredis and its socket, and makes commands leave together. A command leaves at once while none is
 * under way. Behind others it leaves with those of its tick, or of the rest of its turn of the event loop; earlier as
 * soon as as many are gathered as are under way: so Redis works on one half while the other is got ready.
 */
export class WriteBatch {
  readonly #insides: Insides;
  #gathered = '';
  #count = 0;
  /** Where what is gathered belongs: after a reconnect nobody waits for its answers. */
  #stream: Writable | undefined;
  #wrote = false;

  constructor(client: Redis) {
    this.#insides = client as unknown as Insides;
  }

  /** Called by ioredis for each command, before it counts it as under way. */
  write(wire: string): void {
    const { stream, commandQueue } = this.#insides;
    if (this.#stream !== stream) this.#clear(stream);
    this.#gathered += wire;
    this.#count += 1;
    const sent = commandQueue.length + 1 - this.#count;
    if (sent === 0 || (this.#count >= WORTH_A_WRITE && this.#count >= sent)) this.flush();
    else this.#schedule();
  }

  /** Writes now what is gathered. */
  readonly flush = (): void => {
    const wire = this.#gathered;
    if (wire === '') return;
    const stream = this.#stream!;
    this.#clear(stream);
    if (stream.writable) stream.write(wire);
  };

  #clear(stream: Writable): void {
    this.#stream = stream;
    this.#gathered = '';
    this.#count = 0;
  }

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

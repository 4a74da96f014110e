import { setImmediate } from 'node:timers';
import type { Redis } from 'ioredis';
import type { Writable } from 'node:stream';
import type { InFlightRun, ScriptBatch } from './script-batch.js';

/** How many gathered commands are worth a write of their own while others are in flight. */
const WORTH_A_WRITE = 4;

/** How many runs of a script are worth a write while at most one command is in flight, so that Redis need not wait. */
const RUNS_WORTH_A_WRITE = 8;

/** The undocumented parts of ioredis: the socket, and the commands that wait for their answers. */
interface Insides {
  readonly stream: Writable;
  readonly commandQueue: { readonly length: number };
}

/**
 * Stands between ioredis and its socket, and makes commands leave together. A command leaves at once while none is in
 * flight. Behind others it leaves with those of its tick, or of the rest of its turn of the event loop. When as many are
 * gathered as are in flight, they leave before the next one: so Redis works on one half while the other is prepared. Until
 * a command leaves or another comes behind it, further runs of its script may join it.
 */
export class WriteBatch {
  readonly #insides: Insides;
  #gathered = '';
  /** The last command, if the library encodes it. */
  #last: ScriptBatch | undefined;
  #count = 0;
  /** The socket of the gathered commands: after a reconnect nobody waits for their answers. */
  #stream: Writable | undefined;
  #scheduled = false;

  constructor(client: Redis) {
    this.#insides = client as unknown as Insides;
  }

  /** Called by ioredis for each command, before ioredis counts it as in flight. */
  write(command: string | ScriptBatch): void {
    const { stream, commandQueue } = this.#insides;
    if (this.#stream !== stream) this.#clear(stream);
    const sent = commandQueue.length - this.#count;
    if (this.#count >= WORTH_A_WRITE && this.#count >= sent) this.flush();
    else this.#encode();
    if (typeof command === 'string') this.#gathered += command;
    else this.#last = command;
    this.#count += 1;
    if (commandQueue.length === 0) this.flush();
    else this.#schedule();
  }

  /** Lets a run leave with the last command; false if it cannot. */
  add(inFlight: InFlightRun): boolean {
    const { stream, commandQueue } = this.#insides;
    if (this.#stream !== stream || !this.#last) return false;
    const runs = this.#last.add(inFlight);
    const sent = commandQueue.length - this.#count;
    if (runs >= RUNS_WORTH_A_WRITE && sent <= 1) this.flush();
    return runs > 0;
  }

  /** Writes the gathered commands now. */
  readonly flush = (): void => {
    this.#encode();
    const wire = this.#gathered;
    if (wire === '') return;
    const stream = this.#stream!;
    this.#clear(stream);
    if (stream.writable) stream.write(wire);
  };

  #encode(): void {
    if (this.#last) this.#gathered += this.#last.encoded();
    this.#last = undefined;
  }

  #clear(stream: Writable): void {
    this.#stream = stream;
    this.#last = undefined;
    this.#gathered = '';
    this.#count = 0;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.flush);
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#scheduled = false;
    this.flush();
  };
}

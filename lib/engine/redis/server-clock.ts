import { type Moment, partedSince } from '../options/index.js';
import { SAMPLE_LIFE } from '../protocol/constants.js';

interface Sample {
  readonly sent: Moment;
  /** Monotonic ms. */
  readonly receivedAt: number;
  /** The server's clock in ms, read between the two. */
  readonly server: number;
}

/** How far our two clocks may part meanwhile, in ms: more, and the machine slept, or somebody set its clock. */
const STEP = 5;

/** How far a server's clock may be set between two replies, in ms. Farther, and it is read anew, with a new connection. */
const FARTHEST = 86_400_000;

/**
 * What this process knows of the server's clock, from the replies that carry it. Errs on the safe
 * side only: never ahead of the server, and no moment placed later than it was.
 */
export class ServerClock {
  #sample: Sample | undefined;

  /** The server may be another one now. */
  forget(): void {
    this.#sample = undefined;
  }

  /** @throws if no clock can have said so, by what is known of it: then this is no reply to the step. */
  learn(sent: Moment, receivedAt: number, server: number): void {
    const expected = this.known ? this.serverTimeAt(receivedAt) : server;
    if (!(Math.abs(server - expected) < FARTHEST)) throw new TypeError('no clock');
    this.#sample = { sent, receivedAt, server };
  }

  get known(): boolean {
    return this.#sample !== undefined;
  }

  /** The server's clock at our moment `now` (monotonic ms), or less: by what the machine slept since it was asked. */
  serverTimeAt(now: number): number {
    if (!this.#sample) throw new Error('The clock of the server is not known yet.');
    return this.#sample.server + (now - this.#sample.receivedAt);
  }

  /** Our moment of the server's `server`, or a little before; undefined when no fresh sample says, or it is yet to come. */
  momentAt(server: number, now: Moment): Moment | undefined {
    if (!this.#sample) return undefined;
    const { sent, receivedAt } = this.#sample;
    if (now.monotonic - receivedAt > SAMPLE_LIFE) return undefined;
    if (Math.abs(partedSince(sent, now)) > STEP) return undefined;
    const passed = now.monotonic - sent.monotonic;
    if (server - this.#sample.server > passed + STEP) return undefined; // it was not so late yet
    const since = Math.min(passed, server - this.#sample.server);
    const moment = { monotonic: sent.monotonic + since, wall: sent.wall + since };
    return now.monotonic - moment.monotonic > SAMPLE_LIFE ? undefined : moment;
  }
}

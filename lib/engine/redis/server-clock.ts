import { type Moment, partedSince } from '../options/index.js';
import { SAMPLE_LIFE } from '../protocol/constants.js';

interface Sample {
  readonly sent: Moment;
  /** When the reply arrived, in monotonic ms. */
  readonly receivedAt: number;
  /** The server's clock in ms, read between `sent` and `receivedAt`. */
  readonly server: number;
}

/** How far the process's two clocks may part meanwhile, in ms: beyond, the machine slept, or somebody set its clock. */
const STEP = 5;

/** How far a server's clock may be set between two replies, in ms. Beyond, a new connection reads it anew. */
const FARTHEST = 86_400_000;

/** The server's clock, in ms, in its answer to TIME. */
export function timeIn(reply: unknown): number {
  const [seconds, micros] = reply as [string, string];
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}

/**
 * The server's clock as this process knows it from replies. It errs on the safe side only: never ahead of the server, and
 * no moment is placed later than it was.
 */
export class ServerClock {
  #sample: Sample | undefined;

  /** Drops the sample, since the server may be another one now. */
  forget(): void {
    this.#sample = undefined;
  }

  /** @throws TypeError if no clock can show that time: the reply then belongs to another command. */
  learn(sent: Moment, receivedAt: number, server: number): void {
    const expected = this.known ? this.serverTimeAt(receivedAt) : server;
    if (!(Math.abs(server - expected) < FARTHEST)) throw new TypeError('no clock');
    this.#sample = { sent, receivedAt, server };
  }

  get known(): boolean {
    return this.#sample !== undefined;
  }

  /** The server's clock at this process's `now` (monotonic ms), or less, by how long the machine slept since the sample. */
  serverTimeAt(now: number): number {
    if (!this.#sample) throw new Error('The clock of the server is not known yet.');
    return this.#sample.server + (now - this.#sample.receivedAt);
  }

  /** This process's moment of the server's time, or a little before; undefined without a fresh sample. */
  momentAt(server: number, now: Moment): Moment | undefined {
    if (!this.#sample) return undefined;
    const { sent, receivedAt } = this.#sample;
    if (now.monotonic - receivedAt > SAMPLE_LIFE) return undefined;
    if (Math.abs(partedSince(sent, now)) > STEP) return undefined;
    const passed = now.monotonic - sent.monotonic;
    if (server - this.#sample.server > passed + STEP) return undefined; // the server's clock cannot have come to this time yet
    const since = Math.min(passed, server - this.#sample.server);
    const moment = { monotonic: sent.monotonic + since, wall: sent.wall + since };
    return now.monotonic - moment.monotonic > SAMPLE_LIFE ? undefined : moment;
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from './monotonic.js';
import { OtherLoad } from './other-load.js';

/** A machine on which others use more than this share disturbs what is measured. */
const DISTURBED = 0.1;
/** How long it is watched before it counts as quiet, in ms. */
const WATCHED = 300;

/** Measures again what others have disturbed, once they are done, for as long as its time lasts. */
export class Patience {
  /** @param left How much time may be lost by waiting and measuring again, in ms. */
  constructor(private left: number) {}

  /** What `attempt` gave when it was last made, and the share of the machine that others had meanwhile. */
  async undisturbed<T>(attempt: () => Promise<T>): Promise<{ result: T; others: number }> {
    for (;;) {
      const started = monotonic();
      const load = new OtherLoad();
      const result = await attempt();
      const others = load.since();
      if (others <= DISTURBED || this.left <= 0) return { result, others };
      await this.#untilQuiet();
      this.left -= monotonic() - started;
    }
  }

  async #untilQuiet(): Promise<void> {
    const deadline = monotonic() + this.left;
    const load = new OtherLoad();
    do await pause(WATCHED);
    while (load.since() > DISTURBED && monotonic() < deadline);
  }
}

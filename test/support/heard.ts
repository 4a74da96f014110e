import type { ChannelListener } from 'node:diagnostics_channel';
import {
  type AcquireTrace,
  type HoldTrace,
  lockChannels,
  type LockEventMap,
  type LockEventName,
} from '../../lib/engine/events/index.js';

const STEPS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const NAMES = Object.keys(lockChannels).filter(
  (name) => name !== 'acquire' && name !== 'hold',
) as LockEventName[];

/** One event of a plain channel. */
export interface Told {
  readonly event: LockEventName;
  readonly about: LockEventMap[LockEventName][0];
}

/** Listens to every channel of the library, until it is disposed of. */
export class Heard {
  /** The steps of both tracing channels, in order: `acquire:start`. */
  readonly steps: string[] = [];
  readonly calls: AcquireTrace[] = [];
  readonly holds: HoldTrace[] = [];
  /** The traces that have ended, each as often as it has. */
  readonly ended: (AcquireTrace | HoldTrace)[] = [];
  readonly failed: AcquireTrace[] = [];
  readonly told: Told[] = [];
  readonly #undo: (() => void)[] = [];

  constructor() {
    const started = { acquire: this.calls, hold: this.holds } as Record<string, object[]>;
    for (const name of ['acquire', 'hold'] as const) {
      const subscribers = Object.fromEntries(
        STEPS.map((step) => [
          step,
          (trace: AcquireTrace & HoldTrace): void => {
            this.steps.push(`${name}:${step}`);
            if (step === 'start') started[name]!.push(trace);
            if (step === 'asyncEnd') this.ended.push(trace);
            if (step === 'error') this.failed.push(trace);
          },
        ]),
      );
      lockChannels[name].subscribe(subscribers as never);
      this.#undo.push(() => lockChannels[name].unsubscribe(subscribers as never));
    }
    for (const event of NAMES) {
      const listener: ChannelListener = (about) =>
        void this.told.push({ event, about: about as Told['about'] });
      lockChannels[event].subscribe(listener);
      this.#undo.push(() => lockChannels[event].unsubscribe(listener));
    }
  }

  /** How many holds and calls have begun and not ended. */
  get open(): { held: number; waiting: number } {
    return {
      held: this.holds.filter(({ end }) => end === undefined).length,
      waiting: this.calls.filter(({ outcome }) => outcome === undefined).length,
    };
  }

  /** The names of the plain events, in order. */
  get events(): LockEventName[] {
    return this.told.map(({ event }) => event);
  }

  /** What was told by one name. */
  of<Name extends LockEventName>(name: Name): LockEventMap[Name][0][] {
    return this.told
      .filter(({ event }) => event === name)
      .map(({ about }) => about as LockEventMap[Name][0]);
  }

  /** The traces that began and did not end, or ended more than once. */
  get unbalanced(): (AcquireTrace | HoldTrace)[] {
    const all = [...this.calls, ...this.holds];
    return all.filter((trace) => this.ended.filter((ended) => ended === trace).length !== 1);
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo) undo();
  }
}

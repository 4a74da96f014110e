import { type Around, runAround } from './around.js';
import type { AcquireTrace, HoldEnd, HoldTrace, LockSubject } from './lock-event.js';
import type { LossReason } from '../errors/index.js';

/** The trace of a hold, with the wrappers that subscribers put around its bodies. */
export class Hold implements HoldTrace {
  readonly name: string;
  readonly key: string;
  readonly label: string | undefined;
  readonly mode: LockSubject['mode'];
  readonly topology: LockSubject['topology'];
  readonly module: string | undefined;
  held: number | undefined = undefined;
  end: HoldEnd | undefined = undefined;
  reason: LossReason | undefined = undefined;
  /** Runs a body inside of all wrappers. */
  #wrapped: (<T>(body: () => T) => T) | undefined = undefined;

  constructor(
    { name, key, label, mode, topology, module }: LockSubject,
    readonly startedAt: number,
    readonly acquire: AcquireTrace | undefined,
    public handedFrom: HoldTrace | undefined,
    readonly waited: number,
    readonly token: number | undefined,
  ) {
    this.name = name;
    this.key = key;
    this.label = label;
    this.mode = mode;
    this.topology = topology;
    this.module = module;
  }

  wrap(around: Around): void {
    const inner = this.#wrapped;
    this.#wrapped = (body) => runAround(around, inner ? () => inner(body) : body);
  }

  /** Removes the wrappers: later bodies run inside of nothing. */
  unwrap(): void {
    this.#wrapped = undefined;
  }

  run<T>(body: () => T): T {
    return this.#wrapped ? this.#wrapped(body) : body();
  }
}

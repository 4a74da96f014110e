import type { PendingRun } from './script-run.js';
import { WireCommand } from './wire-command.js';

/** How many runs one command carries: a longer script would hold up everybody else. */
const LARGEST = 32;

/** A run of a script, and those that leave with it in one command: of the same script, with as many operands. */
export class ScriptBatch extends WireCommand {
  readonly #runs: PendingRun[];

  constructor(
    first: PendingRun,
    answered: (runs: readonly PendingRun[], reply: unknown) => void,
    failed: (runs: readonly PendingRun[], error: Error) => void,
  ) {
    const runs = [first];
    super(
      'evalsha',
      () => spelt(runs),
      first.run.script.traced,
      first.promise,
      (reply) => answered(runs, reply),
      (error) => failed(runs, error),
    );
    this.#runs = runs;
  }

  /** How many they are then; 0 if the run has to leave in a command of its own. */
  add(pending: PendingRun): number {
    const { script, args } = pending.run;
    const { run } = this.#runs[0]!;
    const fits =
      script === run.script &&
      script.merged !== undefined &&
      args.length === run.args.length &&
      this.#runs.length < LARGEST;
    return fits ? this.#runs.push(pending) : 0;
  }
}

function spelt(runs: readonly PendingRun[]): string {
  const { script, keys, args } = runs[0]!.run;
  return runs.length === 1 ? script.wire(keys, args) : script.merged!.wire(runs);
}

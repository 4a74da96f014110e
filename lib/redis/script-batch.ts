import type { LuaScript } from './lua-script.js';
import type { BatchedScript } from './batched-script.js';
import type { PendingRun } from './script-run.js';
import { EncodedCommand } from './encoded-command.js';

/** How many runs one command carries: a longer script would hold up everybody else. */
const LARGEST = 32;

/** The script that takes these runs in one. */
export function textOf(runs: readonly PendingRun[]): LuaScript<string, string> | BatchedScript {
  const { script } = runs[0]!.run;
  return runs.length > 1 ? script.batched! : script;
}

/** How runs leave: by the script's hash, where others may join them; by its hash and alone; or by its text, which the server keeps then. */
export type Form = 'hash' | 'alone' | 'text';

/** Runs of a script that leave in one command: of the same script, with as many operands. */
export class ScriptBatch extends EncodedCommand {
  readonly #runs: PendingRun[];
  readonly #form: Form;

  constructor(
    runs: PendingRun[],
    form: Form,
    answered: (reply: unknown) => void,
    failed: (error: Error) => void,
  ) {
    const { run, promise } = runs[0]!;
    super(
      form === 'text' ? 'eval' : 'evalsha',
      () => encoded(runs, form),
      run.script.traced,
      promise,
      answered,
      failed,
    );
    this.#runs = runs;
    this.#form = form;
  }

  /** How many they are then; 0 if the run has to leave in a command of its own. */
  add(pending: PendingRun): number {
    const { script, args } = pending.run;
    const { run } = this.#runs[0]!;
    const fits =
      this.#form === 'hash' &&
      script === run.script &&
      script.batched !== undefined &&
      args.length === run.args.length &&
      this.#runs.length < LARGEST;
    return fits ? this.#runs.push(pending) : 0;
  }
}

function encoded(runs: readonly PendingRun[], form: Form): string {
  const { script, keys, args } = runs[0]!.run;
  const byText = form === 'text';
  return runs.length === 1 ? script.wire(keys, args, byText) : script.batched!.wire(runs, byText);
}

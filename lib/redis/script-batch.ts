import { Command } from 'ioredis';
import { InFlightCommand } from './in-flight-commands.js';
import type { ScriptRun, ScriptText } from './lua-script.js';
import { bulk } from './resp.js';

/** How many runs one command carries: a longer script would hold up everybody else. */
const LARGEST = 32;

/** What of ioredis' command is used here. */
interface IoredisCommand {
  args: readonly unknown[];
  resolve: (reply: unknown) => void;
  reject: (error: Error) => void;
  promise: Promise<unknown>;
}

type Constructor = new (name: string, args: readonly []) => IoredisCommand;

/**
 * A command that is encoded by us and settles a promise of ours: ioredis queues it and finds its
 * answer, and does nothing else. The answer is as Redis sent it, strings are Buffers. Stands on
 * undocumented parts of ioredis: `RedisConnection.tryOut` shows whether they are as expected.
 */
export class EncodedCommand extends (Command as unknown as Constructor) {
  constructor(
    name: string,
    /** Its text; asked for when it leaves. */
    readonly encoded: () => string,
    /** What tracing sees of it. */
    args: readonly unknown[],
    promise: Promise<unknown>,
    resolve: (reply: unknown) => void,
    reject: (error: Error) => void,
  ) {
    super(name, []);
    this.args = args;
    this.promise = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Called by ioredis' constructor, to make a promise of its own. */
  initPromise(): void {}

  /** What ioredis hands to our {@link WriteBatch}. */
  toWritable(): this {
    return this;
  }

  /** How ioredis 6 would change the reply. */
  setReplyContext(): void {}
}

/** A run that waits for its answer. */
export class InFlightRun extends InFlightCommand {
  /** The server had forgotten its script, and it was sent again. */
  repeated = false;

  constructor(
    readonly run: ScriptRun<unknown>,
    sentAt: number,
  ) {
    super(run.key, sentAt);
  }
}

/** The script that takes these runs in one. */
export function textOf(runs: readonly InFlightRun[]): ScriptText {
  const { script } = runs[0]!.run;
  return runs.length > 1 ? script.batched! : script;
}

/** How runs leave: by the script's hash, where others may join them; by its hash and alone; or by its text, which the server keeps then. */
export type Form = 'hash' | 'alone' | 'text';

/** Runs of a script that leave in one command: of the same script, with as many operands. */
export class ScriptBatch extends EncodedCommand {
  readonly #runs: InFlightRun[];
  readonly #form: Form;

  constructor(
    runs: InFlightRun[],
    form: Form,
    answered: (reply: unknown) => void,
    failed: (error: Error) => void,
  ) {
    const { run, promise } = runs[0]!;
    super(
      form === 'text' ? 'eval' : 'evalsha',
      () => encoded(runs, form === 'text'),
      run.script.traced,
      promise,
      answered,
      failed,
    );
    this.#runs = runs;
    this.#form = form;
  }

  /** How many they are then; 0 if the run has to leave in a command of its own. */
  add(added: InFlightRun): number {
    const { script, args } = added.run;
    const { run } = this.#runs[0]!;
    const fits =
      this.#form === 'hash' &&
      script === run.script &&
      script.batched !== undefined &&
      args.length === run.args.length &&
      this.#runs.length < LARGEST;
    return fits ? this.#runs.push(added) : 0;
  }
}

function encoded(runs: readonly InFlightRun[], byText: boolean): string {
  const { script, keys, args } = runs[0]!.run;
  if (runs.length === 1) return script.wire(keys, args, byText);
  let names = '';
  let operands = '';
  for (const { run } of runs) {
    names += run.keys.names;
    for (const arg of run.args) operands += bulk(arg);
  }
  const width = keys.keys.length;
  const head = textOf(runs).head(runs.length * (width + args.length), byText);
  return `${head}${bulk(runs.length * width)}${names}${operands}`;
}

import { Command } from 'ioredis';
import { InFlightCommand } from './in-flight-commands.js';
import type { ScriptRun } from './lua-script.js';

/** How many runs one command carries: a longer script would hold up everybody else. */
const LARGEST = 32;

/** What of ioredis' command is used here. */
interface IoredisCommand {
  readonly name: string;
  args: readonly unknown[];
  promise: Promise<unknown>;
  get resolve(): (reply: unknown) => void;
  set resolve(resolve: (reply: unknown) => void);
  get reject(): (error: Error) => void;
  set reject(reject: (error: Error) => void);
}

type Constructor = new (name: string, args: readonly []) => IoredisCommand;

/**
 * A command that is encoded and settled by us: ioredis queues it and finds its answer, and does nothing else. The answer is
 * as Redis sent it, strings are Buffers. Stands on undocumented parts of ioredis: `RedisConnection.tryOut` shows whether they
 * are as expected.
 */
export abstract class EncodedCommand extends (Command as unknown as Constructor) {
  constructor(
    name: string,
    /** What tracing sees of it. */
    args: readonly unknown[],
    promise: Promise<unknown>,
  ) {
    super(name, []);
    this.args = args;
    this.promise = promise;
  }

  /** Its text; asked for when it leaves. */
  abstract encoded(): string;

  abstract answered(reply: unknown): void;

  abstract failed(error: Error): void;

  /** Called by ioredis' constructor, to make a promise of its own. */
  initPromise(): void {}

  /** Knows its command, as that of ioredis does: what wraps it calls it without one. Made when it is asked for, not with each command. */
  override get resolve(): (reply: unknown) => void {
    return (reply) => this.answered(reply);
  }

  override set resolve(wrapper) {
    Object.defineProperty(this, 'resolve', { value: wrapper, writable: true });
  }

  override get reject(): (error: Error) => void {
    return (error) => this.failed(error);
  }

  override set reject(wrapper) {
    Object.defineProperty(this, 'reject', { value: wrapper, writable: true });
  }

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

  override read(reply: unknown, receivedAt: number): unknown {
    return this.run.read(reply, receivedAt);
  }
}

/** How runs leave: by the script's hash, where others may join them; by its hash and alone; or by its text, which the server keeps then. */
export type Form = 'hash' | 'alone' | 'text';

/** What becomes of runs that left in one command. */
export interface BatchOwner {
  answered(batch: ScriptBatch, reply: unknown): void;
  failed(batch: ScriptBatch, error: Error): void;
}

/** Runs of a script that leave in one command. */
export class ScriptBatch extends EncodedCommand {
  constructor(
    readonly runs: InFlightRun[],
    readonly form: Form,
    private readonly owner: BatchOwner,
  ) {
    const { run, promise } = runs[0]!;
    super(form === 'text' ? 'eval' : 'evalsha', run.script.traced, promise);
  }

  /** How many they are then; 0 if the run has to leave in a command of its own. */
  add(added: InFlightRun): number {
    const { run } = this.runs[0]!;
    const fits =
      this.form === 'hash' &&
      added.run.script === run.script &&
      run.script.joins(run, added.run) &&
      this.runs.length < LARGEST;
    return fits ? this.runs.push(added) : 0;
  }

  override encoded(): string {
    return this.runs[0]!.run.script.encoded(this.runs, this.form === 'text');
  }

  override answered(reply: unknown): void {
    this.owner.answered(this, reply);
  }

  override failed(error: Error): void {
    this.owner.failed(this, error);
  }
}

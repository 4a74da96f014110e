import { Command } from 'ioredis';
import { InFlightCommand } from './in-flight-commands.js';
import type { ScriptRun } from './lua-script.js';

/** The most runs in one command: a longer script would hold up all other clients. */
const LARGEST = 32;

/** The parts of ioredis' command that are used here. */
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

/** A run that waits for its answer. */
export class InFlightRun extends InFlightCommand {
  /** True once the run was sent again because the server had forgotten the script. */
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

/** How runs leave: by the script's hash, which others may join; by its hash, alone; or by its text, to be kept. */
export type Form = 'hash' | 'alone' | 'text';

/** Told the outcome of runs that left in one command. */
export interface BatchOwner {
  answered(batch: ScriptBatch, reply: unknown): void;
  failed(batch: ScriptBatch, error: Error): void;
}

/**
 * Runs of a script that leave in one command, which the library encodes and settles: ioredis only queues it and finds its
 * answer. The answer is as Redis sent it, with Buffers for strings. This class relies on undocumented parts of ioredis:
 * `RedisConnection.tryOut` checks them.
 */
export class ScriptBatch extends (Command as unknown as Constructor) {
  constructor(
    readonly runs: InFlightRun[],
    readonly form: Form,
    private readonly owner: BatchOwner,
  ) {
    const { run, promise } = runs[0]!;
    super(form === 'text' ? 'eval' : 'evalsha', []);
    this.args = run.script.traced;
    this.promise = promise;
  }

  /** Adds a run. Returns the new number of runs, or 0 if this one cannot join. */
  add(added: InFlightRun): number {
    const { run } = this.runs[0]!;
    const fits =
      this.form === 'hash' &&
      added.run.script === run.script &&
      run.script.joins(run, added.run) &&
      this.runs.length < LARGEST;
    return fits ? this.runs.push(added) : 0;
  }

  /** The command's text; read when it leaves. */
  encoded(): string {
    return this.runs[0]!.run.script.encoded(this.runs, this.form === 'text');
  }

  /** Called by ioredis' constructor to make a promise; this class has its own. */
  initPromise(): void {}

  /** A function that knows its command, since wrappers of ioredis call it without one. Each read makes a new one. */
  override get resolve(): (reply: unknown) => void {
    return (reply) => this.owner.answered(this, reply);
  }

  override set resolve(wrapper) {
    Object.defineProperty(this, 'resolve', { value: wrapper, writable: true });
  }

  override get reject(): (error: Error) => void {
    return (error) => this.owner.failed(this, error);
  }

  override set reject(wrapper) {
    Object.defineProperty(this, 'reject', { value: wrapper, writable: true });
  }

  /** Called by ioredis: the result goes to {@link WriteBatch}. */
  toWritable(): this {
    return this;
  }

  /** Called by ioredis 6, which would change the reply otherwise. */
  setReplyContext(): void {}
}

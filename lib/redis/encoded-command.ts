import { Command } from 'ioredis';

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

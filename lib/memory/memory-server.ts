import { type Clock, systemClock } from '../engine/options/index.js';
import type { LuaScript, Operand } from '../engine/redis/index.js';
import type { Channels } from './commands/index.js';
import { Keyspace } from './keyspace.js';
import { ScriptRunner } from './script-runner.js';

/** Called with each message of a channel. */
type Subscriber = (text: string) => void;

/** A server in memory that several applications share, as processes share one Redis. Each step runs atomically; data is lost only on demand. */
export class MemoryServer {
  /** The keys and their values. @internal */
  readonly keys: Keyspace;
  readonly #runner: ScriptRunner;
  readonly #channels = new Map<string, Set<Subscriber>>();
  readonly #resumed = new Set<() => void>();
  #waiting: (() => void)[] | undefined;

  constructor(readonly clock: Clock = systemClock) {
    this.keys = new Keyspace(clock);
    const channels: Channels = {
      publish: (channel, text) => this.publish(channel, text),
      subscribers: (channel) => this.#channels.get(channel)?.size ?? 0,
    };
    this.#runner = new ScriptRunner(this.keys, channels);
  }

  /** True if commands are answered at once. @internal */
  get answers(): boolean {
    return !this.#waiting;
  }

  /** Runs `step` at once, or when the server resumes. @internal */
  run<T>(step: () => T): Promise<T> {
    const turn = new Promise<void>((resolve) => {
      if (this.#waiting) this.#waiting.push(resolve);
      else resolve();
    });
    return turn.then(step);
  }

  /** Runs a script; `operands` are ordered as in EVAL. @internal */
  eval(script: LuaScript, operands: readonly Operand[]): unknown {
    return this.#runner.run(script, operands);
  }

  /** Publishes a text after the present step, and returns the number of its subscribers. @internal */
  publish(channel: string, text: string): number {
    const subscribers = [...(this.#channels.get(channel) ?? [])];
    for (const subscriber of subscribers) soon(() => subscriber(text));
    return subscribers.length;
  }

  /** Subscribes to a channel. Returns a function that unsubscribes. @internal */
  subscribe(channel: string, subscriber: Subscriber): () => void {
    const subscribers = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) this.#channels.delete(channel);
    };
  }

  /** Calls `told` each time that the server resumes after an outage. Returns a function that ends the calls. @internal */
  onResume(told: () => void): () => void {
    this.#resumed.add(told);
    return () => void this.#resumed.delete(told);
  }

  /** Stops answering. Commands that are sent meanwhile run when the server resumes. */
  pause(): void {
    this.#waiting ??= [];
  }

  resume(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    for (const step of waiting) step();
    for (const told of this.#resumed) soon(told);
  }

  /** Loses all data, as FLUSHALL or a restart without persistence does. */
  flush(): void {
    this.keys.clear();
  }
}

/** Runs `task` after the present step. Fake timers of tests hold `queueMicrotask` back, but no promise. */
function soon(task: () => void): void {
  void Promise.resolve().then(task);
}

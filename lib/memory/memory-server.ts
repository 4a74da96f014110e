import { type Clock, systemClock } from '../engine/options/index.js';
import type { LuaScript, Operand } from '../engine/redis/index.js';
import type { Channels } from './commands/index.js';
import { Keyspace } from './keyspace.js';
import { ScriptRunner } from './script-runner.js';

/** Called with each message of a channel. */
type Subscriber = (text: string) => void;

/**
 * The memory that several applications share, as several processes share one Redis.
 * Each step on it runs as one; it loses nothing unless told to.
 */
export class MemoryServer {
  /** What stands at each key. @internal */
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

  /** Whether what is sent now is answered at once. @internal */
  get answers(): boolean {
    return !this.#waiting;
  }

  /** Runs `step` now, or when the server goes on. @internal */
  run<T>(step: () => T): Promise<T> {
    const turn = new Promise<void>((resolve) => {
      if (this.#waiting) this.#waiting.push(resolve);
      else resolve();
    });
    return turn.then(step);
  }

  /** What a script answers; the operands as they stand behind it in EVAL. @internal */
  eval(script: LuaScript, operands: readonly Operand[]): unknown {
    return this.#runner.run(script, operands);
  }

  /** To how many subscribers the text goes; none of them hears it before the step is over. @internal */
  publish(channel: string, text: string): number {
    const subscribers = [...(this.#channels.get(channel) ?? [])];
    for (const subscriber of subscribers) queueMicrotask(() => subscriber(text));
    return subscribers.length;
  }

  /** From now on the subscriber hears what the channel is told. Returns how to end that. @internal */
  subscribe(channel: string, subscriber: Subscriber): () => void {
    const subscribers = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0) this.#channels.delete(channel);
    };
  }

  /** Calls `told` each time that the server answers again after an outage. Returns how to end that. @internal */
  onResume(told: () => void): () => void {
    this.#resumed.add(told);
    return () => void this.#resumed.delete(told);
  }

  /** The server stops answering; what is sent meanwhile runs when it goes on. */
  pause(): void {
    this.#waiting ??= [];
  }

  resume(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    for (const step of waiting) step();
    for (const told of this.#resumed) queueMicrotask(told);
  }

  /** Loses everything, as FLUSHALL or a restart without persistence does. */
  flush(): void {
    this.keys.clear();
  }
}

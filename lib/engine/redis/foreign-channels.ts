import type { Clock } from '../options/index.js';

/** How long a channel stays subscribed after its last use, in ms, and how often that is checked. */
const LINGER = 3_000;
/** The most channels that may be subscribed. */
const MOST = 1_000;

/** A connection that takes SUBSCRIBE and UNSUBSCRIBE. */
interface Subscribing {
  send(command: string, channels: readonly string[]): Promise<unknown>;
}

interface WakeChannel {
  wantedAt: number;
  quietSince: number;
  readonly onMessage: (text: string) => void;
}

/**
 * The channels of other services that this process listens to beside its inbox. Each is subscribed while somebody wants it,
 * and no longer than 6 s after that. If Redis refuses, or too many are wanted, no message arrives.
 */
export class ForeignChannels {
  readonly #wanted = new Map<string, WakeChannel>();
  #connection: Subscribing | undefined;
  #cancelSweep: (() => void) | undefined;

  constructor(private readonly time: Clock) {}

  /**
   * Listens to a channel for the next 3 s. Returns since when the channel is subscribed and silent, in monotonic ms;
   * Infinity while it is not. A caller that asked before that moment may have missed a message.
   */
  listen(channel: string, onMessage: (text: string) => void): number {
    let wanted = this.#wanted.get(channel);
    if (!wanted) {
      if (this.#wanted.size >= MOST) return Infinity;
      wanted = { wantedAt: 0, quietSince: Infinity, onMessage };
      this.#wanted.set(channel, wanted);
      if (this.#connection) void this.#subscribe(this.#connection, channel, wanted);
      this.#cancelSweep ??= this.time.after(LINGER, () => this.#sweep());
    }
    wanted.wantedAt = this.time.monotonic();
    return wanted.quietSince;
  }

  /** A message arrived on a channel. */
  message(channel: string, text: string): void {
    const wanted = this.#wanted.get(channel);
    if (!wanted) return;
    wanted.quietSince = this.time.monotonic();
    wanted.onMessage(text);
  }

  /** A connection, new or again, is ready for subscriptions. Never rejects. */
  async connected(connection: Subscribing): Promise<void> {
    this.#connection = connection;
    const wanted = [...this.#wanted];
    await Promise.all(wanted.map(([channel, each]) => this.#subscribe(connection, channel, each)));
  }

  /** A connection is gone, and its subscriptions with it. */
  disconnected(connection: Subscribing): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    for (const wanted of this.#wanted.values()) wanted.quietSince = Infinity;
  }

  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = this.#connection = undefined;
    this.#wanted.clear();
  }

  /** Subscribes to a channel. If Redis refuses, the channel stays silent until the next connection. */
  async #subscribe(connection: Subscribing, name: string, wanted: WakeChannel): Promise<void> {
    try {
      await connection.send('subscribe', [name]);
      wanted.quietSince = this.time.monotonic();
    } catch {} // without the channel, waiters ask at intervals
  }

  #sweep(): void {
    const now = this.time.monotonic();
    for (const [channel, { wantedAt }] of this.#wanted) {
      if (wantedAt + LINGER > now) continue;
      this.#wanted.delete(channel);
      this.#connection?.send('unsubscribe', [channel]).catch(() => {}); // this fails only without a connection, and then no channel is subscribed
    }
    this.#cancelSweep =
      this.#wanted.size > 0 ? this.time.after(LINGER, () => this.#sweep()) : undefined;
  }
}

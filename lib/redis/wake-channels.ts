import type { Clock } from '../options/index.js';
import type { RedisConnection } from './redis-connection.js';

/** How long a channel is listened to after it was last wanted, in ms; looked after as often. */
const LINGER = 3_000;
/** How many channels are listened to at most. */
const MOST = 1_000;

interface Wanted {
  wantedAt: number;
  quietSince: number;
  readonly told: () => void;
}

/**
 * The channels of other services that this process hears beside its inbox: each is subscribed to while somebody
 * wants it, and no longer than 6 s after that. Where Redis refuses, or too many are wanted, nothing is heard.
 */
export class WakeChannels {
  readonly #wanted = new Map<string, Wanted>();
  #connection: RedisConnection | undefined;
  #cancelSweep: (() => void) | undefined;

  constructor(private readonly time: Clock) {}

  /**
   * Listens to a channel for the next 3 s. Since when it has been heard and silent (monotonic ms); Infinity while it is
   * not heard. Who asked before that moment may have missed a message.
   */
  listen(channel: string, told: () => void): number {
    let wanted = this.#wanted.get(channel);
    if (!wanted) {
      if (this.#wanted.size >= MOST) return Infinity;
      wanted = { wantedAt: 0, quietSince: Infinity, told };
      this.#wanted.set(channel, wanted);
      if (this.#connection) void this.#subscribe(this.#connection, channel, wanted);
      this.#cancelSweep ??= this.time.after(LINGER, () => this.#sweep());
    }
    wanted.wantedAt = this.time.monotonic();
    return wanted.quietSince;
  }

  /** Something was said on a channel. */
  message(channel: string): void {
    const wanted = this.#wanted.get(channel);
    if (!wanted) return;
    wanted.quietSince = this.time.monotonic();
    wanted.told();
  }

  /** There is a connection to hear by, new or once more. Never rejects. */
  async connected(connection: RedisConnection): Promise<void> {
    this.#connection = connection;
    const wanted = [...this.#wanted];
    await Promise.all(wanted.map(([channel, each]) => this.#subscribe(connection, channel, each)));
  }

  /** A connection is gone, and all subscriptions with it. */
  disconnected(connection: RedisConnection): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    for (const wanted of this.#wanted.values()) wanted.quietSince = Infinity;
  }

  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = this.#connection = undefined;
    this.#wanted.clear();
  }

  /** Where it is refused, the channel stays unheard until the next connection. */
  async #subscribe(connection: RedisConnection, channel: string, wanted: Wanted): Promise<void> {
    try {
      await connection.send('subscribe', [channel]);
      wanted.quietSince = this.time.monotonic();
    } catch {} // who waits goes on asking
  }

  #sweep(): void {
    const now = this.time.monotonic();
    for (const [channel, { wantedAt }] of this.#wanted) {
      if (wantedAt + LINGER > now) continue;
      this.#wanted.delete(channel);
      this.#connection?.send('unsubscribe', [channel]).catch(() => {}); // the connection is gone then
    }
    this.#cancelSweep =
      this.#wanted.size > 0 ? this.time.after(LINGER, () => this.#sweep()) : undefined;
  }
}

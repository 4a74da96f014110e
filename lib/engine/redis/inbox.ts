import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import type { ServerListener } from './lock-server.js';
import { onEachConnection } from './ioredis-workarounds.js';
import type { RedisConnection } from './redis-connection.js';
import { notSent } from './store-failure.js';

/** Publishes a text to the inbox of this process. Resolves to 0 if the server of the commands has no subscriber to that inbox. */
type Publish = (text: string) => Promise<unknown>;

/** The subscriber connection to this process's own inbox and to foreign channels, subscribed anew after every reconnect. */
export class Inbox {
  /** Texts of checks that have not arrived yet. */
  readonly #expected = new Map<string, () => void>();
  #greetings = 0;
  /** Whether a check of the inbox is under way. */
  #doubted = false;
  /** The socket that was subscribed last: a doubt about another one would end a connection that is being made. */
  #subscribed: unknown;

  constructor(
    private readonly connection: RedisConnection,
    private readonly inbox: string,
    private readonly listener: ServerListener,
    private readonly wakes: ForeignChannels,
  ) {
    connection.client.on('message', (channel: string, text: string) => {
      if (channel === inbox) listener.message(text);
      else wakes.message(channel, text);
    });
    connection.client.on('close', () => wakes.disconnected(connection));
  }

  readonly #greeted = (_channel: string, text: string): void => this.#expected.get(text)?.();

  /**
   * Subscribes now and after every reconnect. A later connection is replaced if `publish`, as in {@link hears}, finds no
   * subscriber. Rejects if the user has no right to subscribe.
   */
  async open(publish: Publish = () => Promise.resolve()): Promise<void> {
    await this.#subscribe();
    const again = async (): Promise<void> => {
      await this.#subscribe();
      const found = await publish('hello').catch(() => {}); // a failed publish proves nothing
      if (found === 0) throw notSent(undefined); // `onEachConnection` replaces a connection for which this throws
    };
    onEachConnection(
      this.connection,
      again,
      () => this.listener.reconnected(),
      (error) => this.listener.unheard?.(error),
    );
  }

  /**
   * Whether a text that `publish` sends to the inbox arrives within `within` ms. False if `publish` resolves to 0: the
   * subscription is at a replica then, which receives the text too. Never rejects.
   */
  hears(publish: Publish, within: number): Promise<boolean> {
    const { client, clock } = this.connection;
    const text = `hello ${(this.#greetings += 1)}`;
    if (this.#expected.size === 0) client.on('message', this.#greeted);
    return new Promise((resolve) => {
      const end = (heard: boolean): void => {
        cancel();
        this.#expected.delete(text);
        if (this.#expected.size === 0) client.off('message', this.#greeted);
        resolve(heard);
      };
      const cancel = deadline(clock, within, () => end(false));
      const arrival = new Promise<void>((arrive) => this.#expected.set(text, arrive));
      const sending = publish(text).then((found) => {
        if (found === 0) throw notSent(undefined);
      });
      Promise.all([sending, arrival]).then(
        () => end(true),
        () => end(false),
      );
    });
  }

  /**
   * Replaces the connection if a text that `publish` sent does not arrive within the command time-out: it is half-open, or
   * at another server than the commands. The inbox hears nothing until it is back.
   */
  async doubt(publish: Publish): Promise<void> {
    const { client, timeout } = this.connection;
    const { stream } = client;
    if (this.#doubted || stream !== this.#subscribed) return;
    let said = false;
    this.#doubted = true;
    const heard = await this.hears(async (text) => {
      const found = await publish(text);
      said = true;
      return found;
    }, timeout);
    this.#doubted = false;
    if (said && !heard && client.stream === stream) this.connection.replace();
  }

  async #subscribe(): Promise<void> {
    const { connection, inbox, wakes } = this;
    const { stream } = connection.client;
    await connection.send('subscribe', [inbox]);
    this.#subscribed = stream;
    await wakes.connected(connection);
  }
}

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

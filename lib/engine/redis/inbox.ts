import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import type { ServerListener } from './lock-server.js';
import { onEachConnection } from './ioredis-workarounds.js';
import type { RedisConnection } from './redis-connection.js';
import { notSent } from './store-failure.js';

/** Sends a text to the inbox of this process; resolves to 0 where that is found to be nobody's. */
type Publish = (text: string) => Promise<unknown>;

/** Our subscriber connection: subscribed to this process's own inbox and to wake-up channels, anew after every reconnect. */
export class Inbox {
  /** Texts that health checks sent, and that have not arrived. */
  readonly #expected = new Map<string, () => void>();
  #greetings = 0;
  /** Whether it is tried just now if anything is heard. */
  #doubted = false;
  /** The socket that is subscribed last: a doubt of another one would end a connection that is on its way. */
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
   * inbox. Rejects if the user has no right to subscribe.
   */
  async open(publish: Publish = () => Promise.resolve()): Promise<void> {
    await this.#subscribe();
    const again = async (): Promise<void> => {
      await this.#subscribe();
      const found = await publish('hello').catch(() => {}); // what could not be asked says nothing
      if (found === 0) throw notSent(undefined); // it has to be connected anew
    };
    onEachConnection(
      this.connection,
      again,
      () => this.listener.reconnected(),
      (error) => this.listener.unheard?.(error),
    );
  }

  /**
   * Whether a text that `publish` sends to the inbox is received within so many ms. It is not where `publish` resolves to 0,
   * as nobody listens there: the inbox is at a replica, which is sent the text, too. Never rejects.
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
   * It seems to be deaf, or at another server than the commands: connects anew if what `publish` has sent is not heard
   * within the time-out of a command. Who is connected anew hears nothing meanwhile.
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

/** How long a channel stays subscribed to after it was last wanted, in ms; looked after as often. */
const LINGER = 3_000;
/** How many channels are subscribed to at most. */
const MOST = 1_000;

/** What takes SUBSCRIBE and UNSUBSCRIBE. */
interface Subscribing {
  send(command: string, channels: readonly string[]): Promise<unknown>;
}

interface WakeChannel {
  wantedAt: number;
  quietSince: number;
  readonly onMessage: (text: string) => void;
}

/**
 * The channels of other services that this process listens to beside its inbox: each is subscribed to while somebody
 * wants it, and no longer than 6 s after that. Where Redis refuses, or too many are wanted, nothing arrives.
 */
export class ForeignChannels {
  readonly #wanted = new Map<string, WakeChannel>();
  #connection: Subscribing | undefined;
  #cancelSweep: (() => void) | undefined;

  constructor(private readonly time: Clock) {}

  /**
   * Listens to a channel for the next 3 s. Since when it is subscribed to and silent (monotonic ms); Infinity while it is
   * not. Who asked before that moment may have missed a message.
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

  /** There is a connection to subscribe on, new or once more. Never rejects. */
  async connected(connection: Subscribing): Promise<void> {
    this.#connection = connection;
    const wanted = [...this.#wanted];
    await Promise.all(wanted.map(([channel, each]) => this.#subscribe(connection, channel, each)));
  }

  /** A connection is gone, and all subscriptions with it. */
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

  /** Where it is refused, the channel stays silent until the next connection. */
  async #subscribe(connection: Subscribing, name: string, wanted: WakeChannel): Promise<void> {
    try {
      await connection.send('subscribe', [name]);
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

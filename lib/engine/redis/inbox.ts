import { inTime } from './deadline.js';
import type { ForeignChannels } from './foreign-channels.js';
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
    readonly connection: RedisConnection,
    private readonly inbox: string,
    private readonly listener: ServerListener,
    private readonly wakes: ForeignChannels,
    private readonly publish: Publish,
  ) {
    connection.client.on('message', (channel: string, text: string) => {
      if (channel !== inbox) return wakes.message(channel, text);
      this.#expected.get(text)?.();
      listener.message(text);
    });
    connection.client.on('close', () => wakes.disconnected(connection));
  }

  /**
   * Subscribes now and after every reconnect. A later connection is replaced if a text finds no subscriber. Rejects if the
   * user has no right to subscribe.
   */
  async open(): Promise<void> {
    await this.#subscribe();
    const again = async (): Promise<void> => {
      await this.#subscribe();
      const found = await this.publish('hello').catch(() => {}); // a failed publish proves nothing
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
   * Whether a text that is published to the inbox arrives within `ms`; undefined if nobody says that it was published. False
   * if it has no subscriber: the subscription is at a replica then, which receives the text too. Never rejects.
   */
  async hears(ms: number): Promise<boolean | undefined> {
    const text = `hello ${(this.#greetings += 1)}`;
    const arrival = new Promise<void>((arrive) => this.#expected.set(text, arrive));
    let isPublished = false;
    const sending = this.publish(text).then((found) => {
      isPublished = true;
      if (found === 0) throw notSent(undefined);
    });
    const heard = Promise.all([sending, arrival]).then(
      () => true,
      () => false,
    );
    const isHeard = await inTime(this.connection.clock, ms, heard, () => false);
    this.#expected.delete(text);
    return isPublished ? isHeard : undefined;
  }

  /**
   * Replaces the connection if a published text does not arrive within the command time-out: it is half-open, or at another
   * server than the commands. The inbox hears nothing until it is back.
   */
  async doubt(): Promise<void> {
    const { client, timeout } = this.connection;
    const { stream } = client;
    if (this.#doubted || stream !== this.#subscribed) return;
    this.#doubted = true;
    const isHeard = await this.hears(timeout);
    this.#doubted = false;
    if (isHeard === false && client.stream === stream) this.connection.replace();
  }

  async #subscribe(): Promise<void> {
    const { connection, inbox, wakes } = this;
    const { stream } = connection.client;
    await connection.send('subscribe', [inbox]);
    this.#subscribed = stream;
    await wakes.connected(connection);
  }
}

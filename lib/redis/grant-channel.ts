import { onEachConnection } from './each-connection.js';
import type { RedisConnection } from './redis-connection.js';
import type { WakeChannels } from './wake-channels.js';

/** What arrives in this process's inbox, as the scripts write it. */
export interface InboxListener {
  message(text: string): void;
  /** The inbox was deaf for a while and hears again. */
  resubscribed(): void;
}

/** Our subscriber connection: subscribed to this process's own inbox and to wake-up channels, anew after every reconnect. */
export class GrantChannel {
  constructor(
    private readonly connection: RedisConnection,
    readonly inbox: string,
    private readonly listener: InboxListener,
    private readonly wakes: WakeChannels,
  ) {
    connection.client.on('message', (channel: string, text: string) => {
      if (channel === inbox) listener.message(text);
      else wakes.message(channel);
    });
    connection.client.on('close', () => wakes.disconnected(connection));
  }

  /** Subscribes now and after every reconnect. Rejects if the user has no right to. */
  async open(): Promise<void> {
    const { client } = this.connection;
    await this.#subscribe();
    onEachConnection(
      client,
      () => this.#subscribe(),
      () => this.listener.resubscribed(),
      () => client.disconnect(true),
    );
  }

  async #subscribe(): Promise<void> {
    const { connection, inbox, wakes } = this;
    await connection.send('subscribe', [inbox]);
    await wakes.connected(connection);
  }

  replace(): void {
    if (this.connection.ready) this.connection.client.disconnect(true);
  }

  close(): void {
    this.connection.close();
  }
}

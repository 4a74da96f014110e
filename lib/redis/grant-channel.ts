import type { RedisConnection } from './redis-connection.js';

/** What arrives in this process's inbox, as the scripts write it: a word and its operands. */
export interface InboxListener {
  message(words: readonly string[]): void;
  /** The inbox was deaf for a while and hears again. */
  resubscribed(): void;
}

/** Our subscriber connection: one SUBSCRIBE on this process's own inbox, renewed after every reconnect. */
export class GrantChannel {
  constructor(
    private readonly connection: RedisConnection,
    readonly inbox: string,
    private readonly listener: InboxListener,
  ) {
    const onMessage = (_inbox: string, text: string): void => listener.message(text.split(' '));
    connection.client.on('message', onMessage);
  }

  /** Subscribes now and after every reconnect. Rejects if the user has no right to. */
  async open(): Promise<void> {
    const { client } = this.connection;
    await this.#subscribe();
    client.on('ready', () => {
      this.#subscribe().then(
        () => this.listener.resubscribed(),
        () => client.disconnect(true),
      );
    });
  }

  #subscribe(): Promise<unknown> {
    const { connection, inbox } = this;
    return connection.send('subscribe', [inbox]);
  }

  replace(): void {
    if (this.connection.ready) this.connection.client.disconnect(true);
  }

  close(): void {
    this.connection.close();
  }
}

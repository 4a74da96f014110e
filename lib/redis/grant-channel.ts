import type { Redis } from 'ioredis';

/** What arrives in this process's inbox, as the scripts write it: a word and its operands. */
export interface InboxListener {
  message(words: readonly string[]): void;
  /** The inbox was deaf for a while and hears again. */
  resubscribed(): void;
}

/** Our subscriber connection: one SUBSCRIBE on this process's own inbox, renewed after every reconnect. */
export class GrantChannel {
  constructor(
    readonly client: Redis,
    readonly inbox: string,
    private readonly listener: InboxListener,
  ) {
    client.on('message', (_channel: string, text: string) => listener.message(text.split(' ')));
  }

  /** Subscribes now and after every reconnect. Rejects if the user has no right to. */
  async open(): Promise<void> {
    await this.client.subscribe(this.inbox);
    this.client.on('ready', () => {
      this.client.subscribe(this.inbox).then(
        () => this.listener.resubscribed(),
        () => this.client.disconnect(true),
      );
    });
  }

  /** For when pushes seem to get lost: a half-open connection hears nothing and does not know it. */
  replace(): void {
    if (this.client.status === 'ready') this.client.disconnect(true);
  }

  close(): void {
    this.client.disconnect();
  }
}

import { createServer, type Server, type Socket } from 'node:net';
import { CommandSplitter } from './command-splitter.js';

/** How late the Sentinels answer, in ms. */
const LATENESS = 100;
const CHANNEL = '+switch-master';

/**
 * Sentinels in this process that name whichever primary a test wants, and say so at once: real ones need seconds
 * for each switch. They answer 100 ms late.
 */
export class FakeSentinels {
  readonly #servers: Server[] = [];
  readonly #links = new Set<Link>();

  private constructor(
    readonly name: string,
    /** The port of the primary that they name. */
    public primary: number,
  ) {}

  static async start(primary: number, count = 3): Promise<FakeSentinels> {
    const sentinels = new FakeSentinels('locks', primary);
    for (let at = 0; at < count; at += 1) await sentinels.#listen();
    return sentinels;
  }

  /** What ioredis wants to know. */
  get source(): { sentinels: { host: string; port: number }[]; name: string } {
    const ports = this.#servers.map((server) => (server.address() as { port: number }).port);
    return { sentinels: ports.map((port) => ({ host: '127.0.0.1', port })), name: this.name };
  }

  /** Tells everybody who listens that the primary of this name was switched. */
  announce(name = this.name): void {
    for (const link of this.#links) link.announce(name);
  }

  /** How many connections hear of it. */
  get listening(): number {
    return [...this.#links].filter(({ subscribed }) => subscribed).length;
  }

  async stop(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const link of this.#links) link.end();
    await Promise.all(closed);
  }

  async #listen(): Promise<void> {
    const server = createServer((socket) => {
      const link = new Link(this, socket);
      this.#links.add(link);
      socket.on('close', () => this.#links.delete(link));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#servers.push(server);
  }
}

/** One connection to a Sentinel. */
class Link {
  subscribed = false;
  #protocol = 2;

  constructor(
    private readonly sentinels: FakeSentinels,
    private readonly socket: Socket,
  ) {
    const splitter = new CommandSplitter();
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      for (const { words } of splitter.push(chunk)) {
        setTimeout(() => this.#say(this.#answer(words)), LATENESS);
      }
    });
  }

  announce(name: string): void {
    const text = `${name} 127.0.0.1 1 127.0.0.1 ${this.sentinels.primary}`;
    if (this.subscribed) this.#say(this.#push('message', CHANNEL, text));
  }

  end(): void {
    this.socket.destroy();
  }

  #answer(words: readonly string[]): string {
    const { primary } = this.sentinels;
    switch (words[0] === 'sentinel' ? words[1] : words[0]) {
      case 'hello':
        this.#protocol = 3;
        return '%1\r\n+proto\r\n:3\r\n';
      case 'subscribe':
        this.subscribed = true;
        return `${this.#push('subscribe', CHANNEL)}:1\r\n`.replace(/^(.)2/, '$13');
      case 'get-master-addr-by-name':
        return `*2\r\n${bulk('127.0.0.1')}${bulk(String(primary))}`;
      case 'sentinels':
        return '*0\r\n';
      default:
        return '+OK\r\n';
    }
  }

  #push(...words: string[]): string {
    const kind = this.#protocol === 3 ? '>' : '*';
    return `${kind}${words.length}\r\n${words.map(bulk).join('')}`;
  }

  #say(text: string): void {
    if (!this.socket.destroyed) this.socket.write(text);
  }
}

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

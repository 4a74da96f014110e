import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../tools/redis-server.js';
import { CommandSplitter } from './command-splitter.js';

/** What happens to the bytes of one direction. */
export interface Weather {
  /** Each chunk arrives this many ms later. */
  delay?: number;
  /** Nothing arrives any more. */
  drop?: boolean;
  /** One byte at a time. */
  slice?: boolean;
  /** Nothing arrives before this. */
  until?: Promise<void>;
}

/** What becomes of one command: `lose` swallows it, `cut` lets it run and swallows its reply, `reset` ends the connection unsent, `late` delivers it on another connection after `lateness` ms, text is answered in the server's stead. */
export type Fate =
  'pass' | 'lose' | 'cut' | 'reset' | 'late' | `-${string}` | `:${number}` | `$${string}`;

/** A TCP proxy before one Redis that fails on command; the faults of one connection or of all. */
export class FaultProxy {
  readonly links = new Set<Link>();
  up: Weather = {};
  down: Weather = {};
  /** Asked for each command, its words in lower case; the default lets all pass. */
  fate: (words: readonly string[], link: Link) => Fate = () => 'pass';
  lateness = 0;
  /** The answers to what was delivered late. */
  readonly lateAnswers: Promise<string>[] = [];
  #server: Server | undefined;

  private constructor(
    /** Where new connections lead; those that there are stay where they are. */
    public target: number,
    readonly port: number,
  ) {}

  static async before(target: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, await freePort());
    await proxy.listen();
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Whether it accepts connections. */
  get listening(): boolean {
    return this.#server!.listening;
  }

  async listen(): Promise<void> {
    const server = (this.#server = createServer((socket) =>
      this.links.add(new Link(this, socket)),
    ));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
  }

  /** Ends every connection and refuses new ones until `listen`. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server!.close(resolve));
    this.reset();
    await closed;
  }

  /** Accepts, and lets nothing through in either direction. */
  blackHole(): void {
    this.up = this.down = { drop: true };
  }

  /** Lets everything through again; what was dropped stays dropped. */
  heal(): void {
    this.up = this.down = {};
    this.fate = () => 'pass';
  }

  /** Ends every connection by RST. */
  reset(): void {
    for (const link of this.links) link.reset();
  }

  /** `fate` for the next command that `matches`, and then for no other. Resolves when it came by. */
  once(matches: (words: readonly string[]) => boolean, fate: Fate): Promise<Link> {
    return new Promise((resolve) => {
      const before = this.fate;
      this.fate = (words, link) => {
        if (!matches(words)) return before(words, link);
        this.fate = before;
        resolve(link);
        return fate;
      };
    });
  }

  async close(): Promise<void> {
    if (this.#server?.listening) await this.refuse();
    else this.reset();
  }
}

/** One connection through the proxy. */
export class Link {
  /** Over those of the proxy. */
  up: Weather | undefined;
  down: Weather | undefined;
  /** Whether the client has subscribed on it. */
  subscriber = false;
  readonly #server: Socket;
  readonly #splitter = new CommandSplitter();

  constructor(
    private readonly proxy: FaultProxy,
    private readonly client: Socket,
  ) {
    this.#server = connect(proxy.target, '127.0.0.1');
    const upward = conveyor(this.#server, () => this.up ?? proxy.up);
    const downward = conveyor(client, () => this.down ?? proxy.down);
    client.setNoDelay(true).on('data', (chunk) => {
      for (const { bytes, words } of this.#splitter.push(chunk)) this.#decide(bytes, words, upward);
    });
    this.#server.setNoDelay(true).on('data', downward);
    for (const socket of [client, this.#server]) {
      socket.on('error', () => {}).on('close', () => this.#end());
    }
  }

  reset(): void {
    // A socket that is shutting down cannot be reset: Node 20 would lose its handle, and spin at its exit.
    if (!this.client.writableEnded) this.client.resetAndDestroy();
    this.#end();
  }

  #decide(bytes: Buffer, words: readonly string[], upward: (bytes: Buffer) => void): void {
    if (words[0] === 'subscribe') this.subscriber = true;
    const fate = this.proxy.fate(words, this);
    if (fate === 'lose') return;
    if (fate === 'reset') return this.reset();
    if (fate === 'late') {
      const { target, lateness, lateAnswers } = this.proxy;
      lateAnswers.push(deliverLate(target, bytes, lateness));
      return;
    }
    if (fate === 'cut') {
      this.#server.removeAllListeners('data').once('data', () => this.reset());
    } else if (fate !== 'pass') {
      this.client.write(`${fate}\r\n`);
      return;
    }
    upward(bytes);
  }

  #end(): void {
    this.client.destroy();
    this.#server.destroy();
    this.proxy.links.delete(this);
  }
}

/** Sends `bytes` after `ms`, whatever has become of their sender; resolves with the answer. */
async function deliverLate(port: number, bytes: Buffer, ms: number): Promise<string> {
  await pause(ms);
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve).once('error', reject);
  });
  socket.destroy();
  return answer.toString();
}

/** Writes what it is given to `socket`, in order, under the weather of the moment. */
function conveyor(socket: Socket, weather: () => Weather): (bytes: Buffer) => void {
  let last = Promise.resolve();
  let waiting = 0;
  return (bytes) => {
    const { delay = 0, drop = false, slice = false, until } = weather();
    if (drop) return;
    if (delay === 0 && !slice && !until && waiting === 0) {
      socket.write(bytes);
      return;
    }
    const due = performance.now() + delay;
    waiting += 1;
    last = last.then(async () => {
      await until;
      await pause(due - performance.now());
      for (const piece of slice ? bytes.toString('latin1') : [bytes.toString('latin1')]) {
        if (!socket.destroyed) socket.write(piece, 'latin1');
        if (slice) await new Promise(setImmediate);
      }
      waiting -= 1;
    });
  };
}

function pause(ms: number): Promise<void> | undefined {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined;
}

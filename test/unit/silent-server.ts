import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server that accepts connections, and says nothing until a test gives it an answer. */
export class SilentServer {
  /** What it says to whatever it is sent. */
  answer: string | undefined;
  /** The connections that it has accepted. */
  readonly sockets: Socket[] = [];
  readonly #server = createServer((socket) => {
    this.sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => this.answer && socket.write(this.answer));
  });

  static async start(): Promise<SilentServer> {
    const server = new SilentServer();
    await once(server.#server.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }
}

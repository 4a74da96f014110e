import { Command, type Redis } from 'ioredis';
import { EventEmitter } from 'node:events';

/** What a {@link FakeRedis} says to a command: a reply, an error, or nothing for now. */
export type Says = (name: string, args: readonly unknown[]) => unknown;

/** A reply of a server that is an error. */
export function replyError(text: string): Error {
  return Object.assign(new Error(text), { name: 'ReplyError' });
}

/**
 * Stands for a client of ioredis in which a test decides what happens, and when. It refuses commands that are not
 * encoded by ioredis, so all of them have their names and operands.
 */
export class FakeRedis extends EventEmitter {
  status = 'ready';
  stream = { destroyed: false, writable: true, write: () => true };
  readonly commandQueue = { length: 0 };
  readonly options = { host: 'fake', port: 1 } as Redis['options'];
  /** All that was sent, in its order. */
  readonly sent: Command[] = [];
  /** Each time it was told to disconnect: whether to come back. */
  readonly disconnects: boolean[] = [];
  connects = 0;

  constructor(public says: Says = () => undefined) {
    super();
  }

  /** As who needs a client sees it. */
  get client(): Redis {
    return this as unknown as Redis;
  }

  /** The names of what was sent since this was asked last. */
  names(): string[] {
    return this.sent.splice(0).map(({ name }) => name);
  }

  sendCommand(command: Command): unknown {
    if (command.constructor !== Command) throw new TypeError('no command of ioredis');
    this.sent.push(command);
    const reply = this.says(command.name, command.args);
    if (reply instanceof Error) command.reject(reply);
    else if (reply !== undefined) command.resolve(reply as never);
    return command.promise;
  }

  async connect(): Promise<void> {
    this.connects += 1;
    this.come();
  }

  disconnect(reconnect = false): void {
    this.disconnects.push(reconnect);
  }

  /** The connection is there. */
  come(): void {
    this.status = 'ready';
    this.stream = { ...this.stream, destroyed: false };
    this.emit('connect');
    this.emit('ready');
  }

  /** The connection is gone; `end`: for good, as far as ioredis goes. */
  go(end = false): void {
    this.status = end ? 'end' : 'reconnecting';
    this.stream.destroyed = true;
    this.emit('close');
    if (end) this.emit('end');
  }
}

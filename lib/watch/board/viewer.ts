import type { ServerResponse } from 'node:http';
import { inBackground } from '../../engine/options/index.js';
import { HEADERS } from './answers.js';

/** In ms: after this a page asks anew, so that the guards decide again. */
const LIFE = 300_000;
/** In ms: how long a page may take for its last event. */
const FAREWELL = 1_000;

/** A server-sent event. JSON has no line breaks, so that nothing in it ends the event. */
export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * A page that looks. One that is slow gets the latest event when it has taken the one before: never more than two wait for
 * it in memory.
 */
export class Viewer {
  #isFull = false;
  #missed: string | undefined;

  constructor(
    private readonly response: ServerResponse,
    hello: string,
    life = LIFE,
  ) {
    response.shouldKeepAlive = false; // the server has nothing to wait for once the events have ended
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no', // for nginx
    });
    response.on('error', () => {}); // of a page that left
    response.on('drain', () => this.#catchUp());
    this.show(hello);
    const timer = inBackground(setTimeout(() => this.end(event('again', {})), life));
    response.on('close', () => clearTimeout(timer));
  }

  onEnd(task: () => void): void {
    this.response.on('close', task);
  }

  show(text: string): void {
    if (this.#isFull) this.#missed = text;
    else this.#isFull = !this.response.write(text);
  }

  /** At once, also where the page takes nothing any more. */
  end(last?: string): void {
    this.#missed = undefined;
    if (this.#isFull) return void this.response.destroy();
    this.response.end(last);
    const timer = setTimeout(() => this.response.destroy(), FAREWELL);
    this.response.on('close', () => clearTimeout(timer));
  }

  #catchUp(): void {
    this.#isFull = false;
    const missed = this.#missed;
    this.#missed = undefined;
    if (missed !== undefined) this.show(missed);
  }
}

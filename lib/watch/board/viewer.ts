import type { ServerResponse } from 'node:http';
import { inBackground } from '../../engine/options/index.js';
import { HEADERS } from './answers.js';

/** The life of an event stream in ms: then the page connects again, so that the guards decide again. */
const LIFE = 300_000;
/** How long a page may take to receive its last event, in ms. */
const FAREWELL = 1_000;

/** Formats a server-sent event. JSON has no line breaks, so no content ends the event early. */
export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const BEAT = event('beat', {});

/** An open page. A slow page gets the latest event after it has received the one before: at most two events wait in memory for it. */
export class Viewer {
  #isFull = false;
  #missed: string | undefined;

  constructor(
    private readonly response: ServerResponse,
    hello: string,
    life = LIFE,
  ) {
    response.shouldKeepAlive = false; // no further request follows the events
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no', // nginx would buffer the events
    });
    response.on('error', () => {}); // a page that left causes errors here
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

  /** Shows that the application is alive, unless the page has not yet received what it was shown before. */
  beat(): void {
    if (!this.#isFull) this.show(BEAT);
  }

  /** Ends the stream at once, even if the page receives nothing any more. */
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

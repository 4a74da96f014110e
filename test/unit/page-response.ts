import { EventEmitter } from 'node:events';

/** The response to a page, which takes what is written at once. */
export class PageResponse extends EventEmitter {
  readonly socket = { destroyed: false };
  readonly req = { socket: this.socket };
  headersSent = false;
  destroyed = false;
  text = '';
  isEnded = false;

  writeHead(): void {
    this.headersSent = true;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  end(text = ''): void {
    this.text += text;
    this.isEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

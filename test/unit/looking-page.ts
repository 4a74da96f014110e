import type { BoardFeed } from '../../lib/watch/board/board-feed.js';
import { event, type Viewer } from '../../lib/watch/board/viewer.js';

/** A page that looks at a board, as the feed of the board knows it. */
export class LookingPage {
  readonly shown: string[] = [];
  ended = false;
  #leave = (): void => {};

  show(text: string): void {
    this.shown.push(text);
  }

  beat(): void {
    this.show(event('beat', {}));
  }

  onEnd(task: () => void): void {
    this.#leave = task;
  }

  end(): void {
    this.ended = true;
    this.leave();
  }

  leave(): void {
    this.#leave();
  }

  on(feed: BoardFeed): this {
    feed.add(this as unknown as Viewer);
    return this;
  }

  get lists(): string[] {
    return this.shown.filter((text) => text.startsWith('list'));
  }
}

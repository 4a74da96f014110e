import { detached, inBackground } from '../../engine/options/index.js';
import type { Viewer } from './viewer.js';

/** The most pages at once; further ones are refused. */
const MOST = 100;
/** The interval of keep-alive events, in ms: they show a page that the application is alive while a scan takes long. */
const BEAT = 5_000;

/**
 * The feed of the pages: one repeated scan for all of them, and none without a page. Only the feed's own timer starts a scan,
 * so neither a page nor a guard influences how often Redis is scanned.
 */
export class BoardFeed {
  readonly #viewers = new Set<Viewer>();
  #latest: string | undefined;
  #pausing: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `look` scans and resolves to the event for the pages; it never rejects. */
  constructor(
    private readonly look: () => Promise<string>,
    private readonly interval: number,
  ) {}

  /** Whether there is room for one more page. */
  get hasRoom(): boolean {
    return !this.#isClosed && this.#viewers.size < MOST;
  }

  /** The number of pages. */
  get size(): number {
    return this.#viewers.size;
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    viewer.onEnd(() => this.#viewers.delete(viewer));
    if (this.#latest !== undefined) viewer.show(this.#latest);
    if (!this.#beating) detached(() => this.#begin()); // the feed outlives the request of the first page
  }

  /** Ends all pages at once. */
  close(): void {
    this.#isClosed = true;
    this.#rest();
    for (const viewer of this.#viewers) viewer.end();
  }

  #begin(): void {
    const beat = (): void => this.#viewers.forEach((viewer) => viewer.beat());
    this.#beating = inBackground(setInterval(beat, BEAT));
    void this.#scan();
  }

  async #scan(): Promise<void> {
    const began = performance.now();
    const latest = await this.look();
    if (this.#isClosed) return;
    this.#latest = latest;
    this.#show(latest);
    const pause = Math.max(this.interval, performance.now() - began);
    this.#pausing = inBackground(setTimeout(() => this.#next(), pause));
  }

  #next(): void {
    if (this.#viewers.size > 0) void this.#scan();
    else this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#pausing);
    clearInterval(this.#beating);
    this.#beating = this.#latest = undefined;
  }

  #show(text: string): void {
    for (const viewer of this.#viewers) viewer.show(text);
  }
}

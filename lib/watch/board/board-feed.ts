import { detached, inBackground } from '../../engine/options/index.js';
import { event, type Viewer } from './viewer.js';

/** More pages than these are refused. */
const MOST = 100;
/** In ms: what says to a page that the application is there while a scan takes long. */
const BEAT = 5_000;

/**
 * What the pages show: one scan for all of them, again and again, and none while nobody looks. It is asked for by nobody but
 * its own timer, so that neither a page nor a guard has a part in how often Redis is scanned.
 */
export class BoardFeed {
  readonly #viewers = new Set<Viewer>();
  #latest: string | undefined;
  #pausing: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `look` answers with the event that a scan makes, and never rejects. */
  constructor(
    private readonly look: () => Promise<string>,
    private readonly interval: number,
  ) {}

  /** Whether there is room for one more page. */
  get hasRoom(): boolean {
    return !this.#isClosed && this.#viewers.size < MOST;
  }

  /** How many look. */
  get size(): number {
    return this.#viewers.size;
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    viewer.onEnd(() => this.#viewers.delete(viewer));
    if (this.#latest !== undefined) viewer.show(this.#latest);
    if (!this.#beating) detached(() => this.#begin()); // not inside the request of the first page
  }

  /** Ends all pages at once. */
  close(): void {
    this.#isClosed = true;
    this.#rest();
    for (const viewer of this.#viewers) viewer.end();
  }

  #begin(): void {
    this.#beating = inBackground(setInterval(() => this.#show(event('beat', {})), BEAT));
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

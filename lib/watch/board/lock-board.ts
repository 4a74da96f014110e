import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { isLockError } from '../../engine/errors/index.js';
import { isCut, refuseAllStrings } from '../../engine/inspection/inspection.js';
import { LockService } from '../../nest/services/lock.service.js';
import { logger } from '../../nest/services/logger.js';
import {
  answer,
  answerJson,
  type PlatformRequest,
  type PlatformResponse,
  rawResponse,
  Refusal,
} from './answers.js';
import { BoardFeed } from './board-feed.js';
import type { BoardSettings } from './board-options.js';
import { boardRow } from './board-row.js';
import { forcedRelease } from './forced-release.js';
import { PAGE, PAGE_HEADERS } from './page.js';
import { refuseOtherOrigins } from './same-origin.js';
import { event, Viewer } from './viewer.js';

/** The page of one module, its events and its release. */
export class LockBoard implements OnModuleInit, OnModuleDestroy {
  readonly #feed: BoardFeed;
  /** The failure of the last scan: the same one is logged once. */
  #failure: string | undefined;

  /** @throws LockOptionsError if any string of the pattern would look like a lock. */
  constructor(
    private readonly locks: LockService,
    private readonly settings: BoardSettings,
  ) {
    if (LockService.isGenuine(locks)) {
      refuseAllStrings(settings.pattern, LockService.internals(locks).settings.call.format);
    }
    this.#feed = new BoardFeed(() => this.#look(), settings.interval);
  }

  /** The number of open pages. */
  get viewers(): number {
    return this.#feed.size;
  }

  page(response: PlatformResponse): void {
    void afterInterceptors(response, (raw) => answer(raw, 200, PAGE, PAGE_HEADERS));
  }

  /** Begins the events of a page. */
  watch(request: PlatformRequest, response: PlatformResponse): void {
    void afterInterceptors(response, (raw) => {
      refuseOtherOrigins(request.headers);
      // Of what is asked for behind another answer, Node does not tell when the connection ends.
      if (!raw.socket) throw new Refusal(503, 'The events need a connection of their own.');
      if (!this.#feed.hasRoom) throw new Refusal(503, 'Too many look, or the application ends.');
      const { release, pattern, limit, interval } = this.settings;
      this.#feed.add(new Viewer(raw, event('settings', { release, pattern, limit, interval })));
    });
  }

  release(request: PlatformRequest, response: PlatformResponse): void {
    void afterInterceptors(response, async (raw) => {
      refuseOtherOrigins(request.headers);
      answerJson(raw, 200, await forcedRelease(request, this.locks, this.settings));
    });
  }

  /** Called by Nest: warns of a page without guards. */
  onModuleInit(): void {
    const { guards, path, release } = this.settings;
    if (guards.length > 0) return;
    const power = release ? ', and can take locks from their holders' : '';
    logger.warn(
      `The lock board at "${path}" is open: whoever reaches it sees the keys of all locks${power}.`,
    );
  }

  /** Called by Nest: ends the event streams, which would delay the server's close. */
  onModuleDestroy(): void {
    this.#feed.close();
  }

  async #look(): Promise<string> {
    const { pattern, limit } = this.settings;
    try {
      const found = await this.locks.list(pattern, { limit: limit + 1 });
      this.#failure = undefined;
      return event('locks', {
        rows: found.slice(0, limit).map(boardRow),
        cut: isCut(found),
      });
    } catch (error) {
      return event('trouble', { message: isLockError(error) ? error.message : this.#log(error) });
    }
  }

  /** Logs an error that is not ours, whose text must not reach the page. */
  #log(error: unknown): string {
    const failure = error instanceof Error ? error.stack : String(error);
    if (failure !== this.#failure) logger.error((this.#failure = failure));
    return UNEXPECTED.message;
  }
}

/**
 * Answers after the handler has returned. If the answer had begun before, an interceptor that sets a header would throw, and
 * Nest would end it. An error that is no refusal is logged, and the page gets a general message.
 */
async function afterInterceptors(
  response: PlatformResponse,
  work: (raw: ServerResponse) => void | Promise<void>,
): Promise<void> {
  const raw = rawResponse(response);
  await nextTurn();
  if (raw.headersSent || hasLeft(raw)) return; // an interceptor answered, or the client left
  try {
    await work(raw);
  } catch (error) {
    if (!(error instanceof Refusal)) logger.error(error instanceof Error ? error.stack : error);
    const { status, message } = error instanceof Refusal ? error : UNEXPECTED;
    if (!raw.headersSent) answerJson(raw, status, { message });
  }
}

/** Whether nobody takes the answer. Node tells that by the request's socket alone: in HTTP/2, and of a request behind another. */
function hasLeft({ req }: ServerResponse): boolean {
  return req.socket?.destroyed; // an adapter for a platform without sockets may have none
}

const UNEXPECTED = new Refusal(500, 'The application failed; its log says how.');

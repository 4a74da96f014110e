import type { AbstractHttpAdapter } from '@nestjs/core';
import type { LockAnswer } from './lock-answer.js';

/** Sets the header of an HTTP answer that has not begun. */
export function setRetryAfter(
  adapter: AbstractHttpAdapter,
  response: unknown,
  { retryAfter }: LockAnswer,
): void {
  if (retryAfter === undefined || adapter.isHeadersSent(response)) return;
  adapter.setHeader(response, 'Retry-After', String(retryAfter));
}

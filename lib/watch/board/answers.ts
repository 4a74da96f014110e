import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request as Express or Fastify gives it to a handler. */
export type PlatformRequest = IncomingMessage & {
  readonly raw?: IncomingMessage;
  readonly originalUrl?: string;
  readonly body?: unknown;
};

/** A response as Express or Fastify gives it to a handler. */
export type PlatformResponse = ServerResponse & {
  readonly raw?: ServerResponse;
  hijack?(): unknown;
};

/** The headers of every answer. */
export const HEADERS = {
  'Cache-Control': 'no-store, no-transform',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/**
 * Returns Node's response below the platform. The page reads exact bytes: an interceptor of the application that wraps or
 * rewrites answers would break it.
 */
export function rawResponse(response: PlatformResponse): ServerResponse {
  response.hijack?.();
  return response.raw ?? response;
}

/** Sends a text of the page, past the platform. */
export function answer(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, {
    ...HEADERS,
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

export function answerJson(response: ServerResponse, status: number, body: object): void {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  answer(response, status, JSON.stringify(body), headers);
}

/** A refused request; the message tells the viewer why. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

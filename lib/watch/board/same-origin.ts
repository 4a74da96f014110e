import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './answers.js';

/**
 * Refuses requests of pages of other origins, whatever the application's CORS settings allow. Browsers name the origin's
 * relation in `Sec-Fetch-Site`, which no page can set and no proxy changes. Over plain HTTP that header is missing; then
 * `Origin` must name the requested host. A request without both headers is not from a browser, and has no user's cookies.
 * @throws Refusal
 */
export function refuseOtherOrigins(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw new Refusal(403, 'Only the page itself may ask this, not one of another origin.');
  }
  const { origin } = headers;
  if (origin === undefined) return;
  const host = hostOf(origin);
  if (host !== undefined && host === (headers[':authority'] ?? headers.host)) return;
  throw new Refusal(
    403,
    'The page has another origin than the application sees: use HTTPS, or let the proxy keep the header Host.',
  );
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

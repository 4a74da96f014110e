import type { ServerResponse } from 'node:http';

/** What `@Res()` gives: on Express Node's own response, on Fastify one around it. */
export type GivenResponse = ServerResponse | { raw: ServerResponse };

export function nodeResponse(given: GivenResponse): ServerResponse {
  return 'raw' in given ? given.raw : given;
}

/** As many as it has for any one event: what Node.js warns of when there are more than ten. */
export function mostListeners(response: ServerResponse): number {
  return Math.max(...response.eventNames().map((name) => response.listenerCount(name)));
}

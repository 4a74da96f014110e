import type { MemoryServer } from './memory-server.js';

/** How long the last token is remembered beyond its lead over the clock, in ms. */
const REMEMBERED = 86_400_000;

/** The next fencing token of a lock: above every earlier one, also after the server lost them. */
export function mintFencingToken(server: MemoryServer, name: string): number {
  const now = server.now();
  const token = Math.max((server.fences.get(name) ?? 0) + 1, now);
  server.fences.set(name, token, rememberedFor(server, token));
  return token;
}

/** What is left of a token's life if it starts now, in ms. */
export function rememberedFor(server: MemoryServer, token: number): number {
  return REMEMBERED + Math.max(0, Math.ceil((token - server.now()) / 1_000));
}

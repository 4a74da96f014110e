import { isReader } from '../options/index.js';
import type { LockRequest } from '../locks/lock-request.js';
import { FENCE_LIFE, TOKEN_KNOWN, TOKEN_LEAD } from '../protocol/constants.js';
import type { MemoryServer } from './memory-server.js';

/** The tokens of a grant: the first of them, and how many. */
export interface Tokens {
  readonly fencingToken: number | undefined;
  readonly tokens: number;
}

/** What a grant brings: tokens of its own, or for a reader the last that was minted. */
export function fencingTokens(
  server: MemoryServer,
  name: string,
  { holder, tokenBlock, share }: Pick<LockRequest, 'holder' | 'tokenBlock' | 'share'>,
): Tokens {
  if (!share || tokenBlock === 0) return mintFencingTokens(server, name, tokenBlock);
  if (isReader(share)) return { fencingToken: server.fences.get(name) ?? 0, tokens: 1 };
  const who = `${name} ${holder}`;
  const fencingToken =
    server.permitTokens.get(who) ?? mintFencingTokens(server, name, 1).fencingToken!;
  server.permitTokens.set(who, fencingToken, TOKEN_KNOWN);
  return { fencingToken, tokens: 1 };
}

/** The next fencing tokens of a lock: above every earlier one, also after the server lost them. */
function mintFencingTokens(server: MemoryServer, name: string, wanted: number): Tokens {
  if (wanted === 0) return { fencingToken: undefined, tokens: 0 };
  const now = server.now();
  const last = server.fences.get(name) ?? 0;
  const tokens = last >= now && last + wanted > now + TOKEN_LEAD ? 1 : wanted;
  const fencingToken = Math.max(last + 1, now);
  const end = fencingToken + tokens - 1;
  server.fences.set(name, end, rememberedFor(server, end));
  server.firstTokens.set(name, fencingToken);
  return { fencingToken, tokens };
}

/** What is left of a token's life if it starts now, in ms. */
export function rememberedFor(server: MemoryServer, token: number): number {
  return FENCE_LIFE + Math.max(0, Math.ceil((token - server.now()) / 1_000));
}

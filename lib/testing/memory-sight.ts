import type { Sight } from '../locks/lock-store.js';
import { oncePerPermit } from '../locks/lock/sight.js';
import { MemoryHolders } from './memory-holders.js';
import type { MemoryServer } from './memory-server.js';
import { WaitingLine } from './waiting-line.js';

/** What can be seen of the lock at this name; at most so many of its holders and places. */
export function sightOf(server: MemoryServer, name: string, most: number): Sight {
  const value = server.values.get(name);
  const { mode, together } = new MemoryHolders(server, name);
  const line = new WaitingLine(server, name);
  const waiting = line.places;
  const now = server.now();
  return {
    type: value?.type ?? 'none',
    holder: value?.type === 'string' && !mode ? value.text : '',
    holders: oncePerPermit(together, most),
    mode,
    remaining: server.values.ttl(name),
    fencingToken: server.fences.get(name),
    firstToken: server.fences.has(name) ? server.firstTokens.get(name) : undefined,
    waiting: waiting.length,
    awaiting: line.awaiting.length,
    places: waiting
      .slice(0, most)
      .map(({ text, arrival }) => ({ place: text, age: (now - arrival) / 1_000 })),
    now: now / 1_000,
  };
}

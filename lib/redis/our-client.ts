import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { hearAllErrors } from './all-socket-errors.js';
import { boundHandshake } from './bound-handshake.js';

/** A connection of ours is watched over: it tries anew when nothing answers, and its errors go to the commands on it. */
export function watched(client: Redis, timeout: number, clock: Clock): Redis {
  client.on('error', () => {}); // each failed command says it, and so does start-up
  boundHandshake(client, timeout, clock);
  return hearAllErrors(client);
}

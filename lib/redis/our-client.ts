import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { hearAllErrors } from './all-socket-errors.js';
import { boundHandshake } from './bound-handshake.js';

/**
 * A connection of ours is watched over: it tries anew when nothing answers or a demoted primary does, and its errors go
 * to the commands on it.
 */
export function watched(client: Redis, timeout: number, clock: Clock): Redis {
  client.on('error', () => {}); // each failed command says it, and so does start-up
  boundHandshake(client, timeout, clock);
  replaceReadOnly(client);
  return hearAllErrors(client);
}

/** A demoted primary answers each write with READONLY: the first of these answers replaces the connection, no other. */
function replaceReadOnly(client: Redis): void {
  let replaced: unknown;
  client.options.reconnectOnError = ({ message }) => {
    const { stream } = client;
    if (stream === replaced || !/\bREADONLY\b/.test(message)) return false;
    replaced = stream;
    return true;
  };
}

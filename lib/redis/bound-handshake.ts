import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';

/**
 * Tries anew when a connection is not ready `timeout` ms after it was made. ioredis bounds connecting,
 * but waits for ever for the answers to its first commands.
 */
export function boundHandshake(client: Redis, timeout: number, clock: Clock): void {
  let cancel = (): void => {};
  client.on('connect', () => {
    cancel = deadline(clock, timeout, () => client.disconnect(true));
  });
  client.on('ready', () => cancel());
  client.on('close', () => cancel());
}

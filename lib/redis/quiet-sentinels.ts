import { type Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { hearAllErrors } from './all-socket-errors.js';

type Connector = new (options: RedisOptions) => {
  connectToSentinel(endpoint: unknown, options?: RedisOptions): Redis;
};

/**
 * How ioredis finds a primary by its Sentinels, but that a Sentinel which is down is no error that nobody
 * hears: ioredis would write it to the console, for the connections on which it hears of a failover.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Connector) {
  /** Not documented; called by ioredis. */
  override connectToSentinel(endpoint: unknown, options: RedisOptions = {}): Redis {
    const ours = { ...options, disconnectTimeout: 100 }; // else a closed connection is held on to for 2 s
    return hearAllErrors(super.connectToSentinel(endpoint, ours).on('error', () => {}));
  }
}

import type { ModuleSettings } from '../options/index.js';
import type { OutageListener } from './outage-watch.js';
import type { RedisConnection } from './redis-connection.js';
import type { Rights } from './rights.js';

/** What is asked of a server beyond its answers. */
export interface ServerGuards extends Partial<Pick<ModuleSettings, 'replicas' | 'durability'>> {
  /** Told when its connection is lost and when it is back. */
  readonly outages?: OutageListener | undefined;
  /** What its user has to be allowed. */
  readonly rights?: Rights | undefined;
  /** Looks at the server on every new connection, before anything else is sent there. */
  readonly admit?: ((connection: RedisConnection) => Promise<void>) | undefined;
}

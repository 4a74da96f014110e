import type { ProcessHealth } from '../client/queue/local-queues.js';
import type { LockClient } from '../client/lock-client.js';
import type { LockTopology } from '../events/index.js';
import type { ServerHealth, StoreHealth } from '../locks/lock-store.js';
import {
  type Duration,
  milliseconds,
  type ModuleSettings,
  refuseOthers,
} from '../options/index.js';
import { EventLoopWatch } from './event-loop-watch.js';

/** The default time of a health check, in ms. */
const TIMEOUT = 300;
/** A renewal comes at a third of the ttl: an event loop that is later than that leaves one attempt less. */
const RENEWED_AT = 1 / 3;

/** The options of `LockService.health`. */
export interface HealthOptions {
  /** How long the check may take. A server without an answer by then counts as down. From 10 ms to 60 s. Default: 300 ms. */
  readonly timeout?: Duration | undefined;
}

/** The health of a module's locks. It contains no key, no URL, no user and no password. */
export interface LockHealth {
  /**
   * `up`: a free lock would be granted. `degraded`: the same, and `problems` says what is wrong. `down`: no lock is granted,
   * and `problems` says why: Redis, a shutdown, or a limit of this process. Of a quorum, a majority must be up. Of a Cluster,
   * one node must be up.
   */
  readonly status: 'up' | 'degraded' | 'down';
  /** The problems at this moment, one sentence each. Empty while the status is `up`. */
  readonly problems: readonly string[];
  /** The kind of store that keeps the module's locks. */
  readonly topology: LockTopology;
  /** The Redis, each node of a Cluster that has slots, or each server of a quorum. */
  readonly servers: readonly ServerHealth[];
  /**
   * Whether this process received a message that the check sent to itself. Without messages, waiting callers ask for their
   * grants, at least once a second. Undefined for a quorum, which sends none.
   */
  readonly inbox: 'heard' | 'unheard' | undefined;
  /** Leases that this process holds. */
  readonly held: number;
  /** Callers of this process that wait for a lock or a condition. */
  readonly waiting: number;
  readonly eventLoop: {
    /**
     * The worst delay of this process's event loop since the previous check, in ms. One check's finding counts for others
     * for a minute. Undefined at the first check.
     */
    readonly lateness: number | undefined;
    /** The shortest `ttl` of the renewed leases and of the module, in ms; Infinity if nothing is renewed. */
    readonly shortestTtl: number;
  };
  /** The warnings of the start-up log: how Redis, its settings or the installed ioredis can cost locks or speed. */
  readonly warnings: readonly string[];
}

/** The health checks of one module. */
export class HealthCheck {
  readonly #eventLoop = new EventLoopWatch();

  constructor(
    private readonly client: LockClient,
    private readonly settings: ModuleSettings,
  ) {}

  /** Rejects with a LockOptionsError for a wrong option, and never otherwise. */
  async run(options: HealthOptions = {}): Promise<LockHealth> {
    const { client } = this;
    const { ttl, renew } = this.settings.call;
    const store = await client.health(timeoutOf(options), renew ? ttl : Infinity);
    const { held, waiting } = client.load;
    const eventLoop = {
      lateness: this.#eventLoop.lateness(),
      shortestTtl: store.shortestTtl,
    };
    const refusals = this.#refusals(store);
    const problems = [...problemsOf(store, eventLoop), ...refusals];
    const isDown = !store.isUp || refusals.length > 0;
    return {
      status: isDown ? 'down' : problems.length > 0 ? 'degraded' : 'up',
      problems,
      topology: client.publisher.origin.topology,
      servers: store.servers,
      inbox: store.inbox === undefined ? undefined : store.inbox ? 'heard' : 'unheard',
      held,
      waiting,
      eventLoop,
      warnings: store.warnings,
    };
  }

  /** The reasons why this process refuses new calls, whatever the store says. */
  #refusals({ reached }: ProcessHealth): string[] {
    const { limits } = this.settings;
    const refusals = reached.map(
      (limit) =>
        `The limit "${limit}" of ${limits[limit]} is reached: new calls for locks are refused.`,
    );
    if (this.client.isStopping) {
      refusals.push('The application shuts down: new calls for locks are refused.');
    }
    return refusals;
  }

  close(): void {
    this.#eventLoop.close();
  }
}

function timeoutOf(options: HealthOptions): number {
  const { timeout = TIMEOUT, ...others } = options;
  refuseOthers(others);
  return milliseconds('timeout', timeout, { min: 10, max: 60_000 });
}

function problemsOf(
  { isUp, servers, inbox, problems }: StoreHealth,
  { lateness, shortestTtl }: LockHealth['eventLoop'],
): string[] {
  const found = servers.flatMap(({ problem }) => problem ?? []).concat(problems);
  if (isUp && inbox === false) {
    found.push(
      'This process does not hear the grants that Redis sends it. Waiting callers ask for them, which takes up to a second.',
    );
  }
  if (lateness !== undefined && lateness > shortestTtl * RENEWED_AT) {
    found.push(
      `The event loop was late by ${lateness} ms, and the shortest ttl is ${shortestTtl} ms: leases that are not renewed in time are lost.`,
    );
  }
  return [...new Set(found)];
}

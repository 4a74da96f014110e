import { type Precondition, boundedLeases, checkSteps } from '../engine/locks/preconditions.js';
import { RedisLockStore } from '../engine/locks/lock/redis-lock-store.js';
import { isUnsound, refuseUnsound, unsoundStep } from '../engine/locks/quorum/quorum-limits.js';
import type { Clock, ModuleSettings } from '../engine/options/index.js';
import { MemoryLockServer } from './memory-lock-server.js';
import { MemoryServer } from './memory-server.js';

/** The key of the process's one server, which all copies of this library share. */
const OF_PROCESS = Symbol.for('nest-redis-lock:memory');

/**
 * The locks on a server in memory, which runs the scripts of Redis. Stores on one server compete as processes on one Redis do,
 * and refuse the same calls as a store with the same `nodes` and `durability` on Redis.
 */
export class MemoryLockStore extends RedisLockStore {
  constructor(server: MemoryServer, settings: ModuleSettings, clock: Clock = server.clock) {
    const here = { ...settings, replicas: undefined, durability: 'ignore' } as const;
    super(here, clock, undefined, (_, timeout, time, inboxPrefix, processId) => {
      return new MemoryLockServer(server, timeout, time, inboxPrefix, processId);
    });
    const before = refusalsOf(settings);
    if (before) checkSteps(this, before);
  }
}

function refusalsOf({ nodes, durability, call }: ModuleSettings): Precondition | undefined {
  const bounded = durability === 'refuse' ? boundedLeases(call.ttl) : undefined;
  if (!nodes) return bounded;
  return (step, request) => {
    bounded?.(step, request);
    if (step === 'acquire') refuseUnsound(request);
    if (isUnsound(step)) throw unsoundStep(step);
  };
}

/** The server in memory behind `redis: 'memory:'`: all modules of a process compete on it. */
export function serverOfProcess(): MemoryServer {
  const shared = globalThis as { [OF_PROCESS]?: MemoryServer };
  return (shared[OF_PROCESS] ??= new MemoryServer());
}

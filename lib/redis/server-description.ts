import { LockOptionsError } from '../errors/index.js';
import type { ModuleSettings } from '../options/index.js';

/** What is asked of a server that may lose data. */
export type Safety = Partial<Pick<ModuleSettings, 'replicas' | 'durability'>>;

/** What a start-up log says of a server, from its INFO; little where the user has no right to it. */
export function description(
  info: string,
  address: string,
  guards: Safety = {},
): { found: string; warnings: string[] } {
  const replicas = Number(serverField(info, 'connected_slaves') ?? 0);
  const following = replicas > 0 ? `, with ${replicas} replica${replicas > 1 ? 's' : ''}` : '';
  const { durability = 'warn' } = guards;
  return {
    found: `${productOf(info)} at ${address}${following}`,
    warnings: durability === 'ignore' ? [] : [...risks(info, guards), ...forgets(info, guards)],
  };
}

/** By its own name and version: the others say besides which Redis they are compatible with. */
function productOf(info: string): string {
  const [, name, version] =
    /^(valkey|redict|dragonfly|garnet|keydb)_version:(\S+)/m.exec(info) ?? [];
  if (name) return `${name[0]!.toUpperCase()}${name.slice(1)} ${version}`;
  return `Redis ${serverField(info, 'redis_version') ?? '(version unknown)'}`;
}

/** @throws LockOptionsError where `durability` is 'refuse' and locks could be lost in a way that no quarantine makes harmless. */
export function refuseRisks(info: string, address: string, guards: Safety): void {
  if (guards.durability !== 'refuse') return;
  const found = risks(info, guards);
  if (found.length === 0) return;
  throw new LockOptionsError(
    `Option "durability" is 'refuse', and Redis at ${address} can lose locks: ${found.join(' ')}`,
  );
}

/** How a server that goes on running can lose locks, or have a second primary beside it. */
function risks(info: string, { replicas }: Safety): string[] {
  const found: string[] = [];
  const policy = serverField(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    found.push(
      `maxmemory-policy is ${policy}: Redis may evict locks that are held. Set it to noeviction.`,
    );
  }
  const following = Number(serverField(info, 'connected_slaves') ?? 0);
  const isBound = serverField(info, 'min_slaves_good_slaves') !== undefined;
  if (following > 0 && !replicas && !isBound) {
    found.push(
      'It is replicated, and takes writes that no replica has: a failover can lose them, and a primary that is cut off still grants locks. Set option "replicas", or min-replicas-to-write.',
    );
  }
  if (replicas && following < replicas.acks) {
    found.push(
      `Option "replicas" asks for ${replicas.acks} and ${following} are connected: no lock is granted until they are.`,
    );
  }
  return found;
}

/** How a restart can lose them; harmless under a quarantine. */
function forgets(info: string, { durability }: Safety): string[] {
  if (durability === 'refuse' || serverField(info, 'aof_enabled') !== '0') return [];
  return [
    'Redis has no append-only file: after a restart it has forgotten the locks that were held. Set appendonly yes, or option "durability" to \'refuse\' (then it grants nothing for one ttl after a restart).',
  ];
}

/** `standalone`, `sentinel` or `cluster`, by the name that Redis and Valkey 8 or that Valkey 9 gives it. */
export function serverMode(info: string): string | undefined {
  return serverField(info, 'redis_mode') ?? serverField(info, 'server_mode');
}

/** A field of INFO. */
export function serverField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

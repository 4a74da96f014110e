import type { Redis } from 'ioredis';
import { at } from './window.js';

/** What was run since the server was started. */
export interface CommandCalls {
  /** Scripts that clients have had run; a script cannot call another. */
  readonly scripts: number;
  /** All else but INFO: where clients only run scripts, what those ran. */
  readonly inside: number;
}

export async function commandCalls(redis: Redis): Promise<CommandCalls> {
  const stats = await redis.info('commandstats');
  const scripts = total(stats, /^cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/gm);
  const own = total(stats, /^cmdstat_info:calls=(\d+)/gm);
  return { scripts, inside: total(stats, /^cmdstat_[^:]+:calls=(\d+)/gm) - scripts - own };
}

/** Bytes that the server uses. */
export async function memoryInUse(redis: Redis): Promise<number> {
  return total(await redis.info('memory'), /^used_memory:(\d+)/gm);
}

/** What a server did since it was started. */
export interface ServerLoad {
  /** Processor time, in µs. */
  readonly cpu: number;
  /** Bytes that it got. */
  readonly bytes: number;
  /** How often it read what clients had sent: commands that leave together are mostly read together. */
  readonly reads: number;
}

export async function serverLoad(redis: Redis): Promise<ServerLoad> {
  const info = await redis.info();
  return {
    cpu: total(info, /^used_cpu_(?:sys|user):([\d.]+)/gm) * 1e6,
    bytes: total(info, /^total_net_input_bytes:(\d+)/gm),
    reads: total(info, /^total_reads_processed:(\d+)/gm),
  };
}

/** From a moment of the shared clock on: what the servers did since, whenever it is asked. */
export async function serverLoadFrom(
  servers: readonly Redis[],
  moment: number,
): Promise<() => Promise<ServerLoad>> {
  await at(moment);
  const before = await Promise.all(servers.map(serverLoad));
  return async () => {
    const now = await Promise.all(servers.map(serverLoad));
    const since = (figure: keyof ServerLoad): number =>
      now.reduce((sum, load, index) => sum + load[figure] - before[index]![figure], 0);
    return { cpu: since('cpu'), bytes: since('bytes'), reads: since('reads') };
  };
}

function total(info: string, pattern: RegExp): number {
  return [...info.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

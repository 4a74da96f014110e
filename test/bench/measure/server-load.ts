import type { Redis } from 'ioredis';
import { at } from './window.js';

/** How many scripts clients have had run, as the server counts: a script cannot call another. */
export async function scriptCalls(redis: Redis): Promise<number> {
  return total(await redis.info('commandstats'), /^cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/gm);
}

/** Bytes that the server uses. */
export async function memoryInUse(redis: Redis): Promise<number> {
  return total(await redis.info('memory'), /^used_memory:(\d+)/gm);
}

/** From a moment of the shared clock on: the servers' processor time since, in µs, whenever it is asked. */
export async function serverCpuFrom(
  servers: readonly Redis[],
  moment: number,
): Promise<() => Promise<number>> {
  const worked = async (): Promise<number> => {
    const each = await Promise.all(servers.map(serverCpu));
    return each.reduce((sum, cpu) => sum + cpu);
  };
  await at(moment);
  const before = await worked();
  return async () => (await worked()) - before;
}

/** The server's processor time so far, in µs. */
export async function serverCpu(redis: Redis): Promise<number> {
  return total(await redis.info('cpu'), /^used_cpu_(?:sys|user):([\d.]+)/gm) * 1e6;
}

function total(info: string, pattern: RegExp): number {
  return [...info.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

import type { Redis } from 'ioredis';

/**
 * Does `work` on each connection that the client makes from now on, and tells how that ended; nothing of one that was
 * replaced meanwhile: what failed there says nothing of the connection that took its place. Returns how to stop.
 */
export function onEachConnection(
  client: Redis,
  work: () => Promise<unknown>,
  done: () => void,
  failed: (error: unknown) => void,
): () => void {
  let latest = 0;
  const ready = (): void => {
    latest += 1;
    const nth = latest;
    work().then(
      () => nth === latest && done(),
      (error: unknown) => nth === latest && failed(error),
    );
  };
  client.on('ready', ready);
  return () => void client.off('ready', ready);
}

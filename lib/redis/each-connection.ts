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
  const settle = async (nth: number): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (nth === latest) failed(error);
      return;
    }
    if (nth === latest) done();
  };
  const ready = (): void => {
    latest += 1;
    void settle(latest);
  };
  client.on('ready', ready);
  return () => void client.off('ready', ready);
}

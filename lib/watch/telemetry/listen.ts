import type { Channel } from 'node:diagnostics_channel';

/** A channel, and what hears of it. */
export type Listener = readonly [channel: Pick<Channel, 'subscribe' | 'unsubscribe'>, hear: Hear];
type Hear = (message: never) => void;

/**
 * Subscribes the listeners until the function that it returns is called. Node.js would end the process with what one
 * throws: `failed` is called with that instead, at the first time.
 */
export function listen(
  listeners: readonly Listener[],
  failed: (error: unknown) => void,
): () => void {
  let told = false;
  const fail = (error: unknown): void => {
    if (told) return;
    told = true;
    try {
      failed(error);
    } catch {
      // A logger that throws harms nobody either.
    }
  };
  const subscribed = listeners.map(([channel, hear]) => {
    const guarded = (message: unknown): void => {
      try {
        hear(message as never);
      } catch (error) {
        fail(error);
      }
    };
    channel.subscribe(guarded);
    return () => channel.unsubscribe(guarded);
  });
  return () => {
    for (const unsubscribe of subscribed) unsubscribe();
  };
}

import type { Channel } from 'node:diagnostics_channel';

/** A channel and its listener. */
export type Listener = readonly [channel: Pick<Channel, 'subscribe' | 'unsubscribe'>, hear: Hear];
type Hear = (message: never) => void;

/**
 * Subscribes the listeners until the returned function is called. An error of a listener would end the process; instead,
 * `failed` gets the first one.
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
      // An error of `failed`, such as a logger's, is ignored too.
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

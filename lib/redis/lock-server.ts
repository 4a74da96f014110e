import type { Clock } from '../options/index.js';
import type { InboxListener } from './grant-channel.js';
import type { Step, StepNode } from './redis-node.js';
import type { ServerClock } from './server-clock.js';
import type { KeyType } from './typed-keys.js';

/** What is told of a server and of this process's inbox there. */
export interface ServerListener extends InboxListener {
  /** A connection was lost and is back, or locks live on another node now. */
  reconnected(): void;
}

/** A Redis, or a Cluster of them, as this process uses it. */
export interface LockServer {
  readonly time: Clock;
  /** What stands before the name of a process in the name of its inbox. */
  readonly inboxPrefix: string;
  readonly ready: boolean;
  /**
   * Connects and tries the rights to SUBSCRIBE and PUBLISH.
   * @throws LockStoreError in bounded time; nothing stays open then.
   */
  open(listener: ServerListener): Promise<void>;
  /** Takes a step at its node; at another one, dated anew, if that one answers that the lock lives there. */
  take<Answer>(step: Step<Answer>): Promise<Answer>;
  /**
   * The same for what takes several runs at the node where `redisKey` lives: begins anew at another one. `key` is the
   * lock's, for errors.
   */
  at<Answer>(
    redisKey: string,
    key: string | undefined,
    step: (node: StepNode) => Promise<Answer>,
    wanted?: () => boolean,
  ): Promise<Answer>;
  /** Locks with the same answer may share a script. */
  slotOf(key: string): number;
  /** The clock by which the lock `key` lives. */
  clockOf(key: string): ServerClock | undefined;
  /** The keys of a type that match a pattern of Redis, wherever they live. */
  typedKeys(glob: string, type: KeyType): AsyncIterable<string>;
  /**
   * Listens to another service's channel, by PUBLISH, for the next 3 s; `told` hears of its messages. Since when it has
   * been heard and silent (monotonic ms); Infinity while it is not heard.
   */
  hear(channel: string, told: () => void): number;
  /** Connects the inbox anew: a half-open connection hears nothing and does not know it. */
  replaceChannel(): void;
  /** From the server's INFO; nothing where the user has no right to it. */
  describe(): { found: string; warnings: string[] };
  close(): Promise<void>;
}

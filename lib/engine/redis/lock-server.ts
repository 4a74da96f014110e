import type { Clock } from '../options/index.js';
import type { KeyType } from './key-names.js';
import type { Step, StepNode } from './redis-node.js';
import type { Description } from './server-check.js';
import type { ServerHealth } from './server-health.js';
import type { ServerClock } from './server-clock.js';

/** What happens at a server and in this process's inbox there. */
export interface ServerListener {
  /** What arrives in the inbox, as the scripts write it. */
  message(text: string): void;
  /** A connection was lost and is back, that of the inbox too, or locks live on another node now. */
  reconnected(): void;
  /** The inbox could not be subscribed to again, for this reason. */
  unheard?(error: unknown): void;
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
  /** What stands in the braces of the key that counts the tokens of this lock: nothing, or where keys have slots, a number in its slot. */
  fenceTagOf(key: string): string;
  /** The clock by which the lock `key` lives. */
  clockOf(key: string): ServerClock | undefined;
  /** The keys of a type that match a pattern of Redis, wherever they live. */
  typedKeys(glob: string, type: KeyType): AsyncIterable<string>;
  /**
   * Subscribes to another service's channel for the next 3 s; `onMessage` is called for each of its messages. Since when
   * it is subscribed to and silent (monotonic ms); Infinity while it is not.
   */
  listen(channel: string, onMessage: (text: string) => void): number;
  /** A push was missed: the inbox is connected anew, unless it hears what it is told now. A half-open connection receives nothing and does not know it. */
  doubtChannel(): void;
  /**
   * Each server that it consists of, asked to take a step that changes nothing on a key behind this prefix, within so many
   * ms. None before the first connection. Never rejects.
   */
  health(prefix: string, within: number): Promise<ServerHealth[]>;
  /** Whether this process hears within so many ms what is published in its inbox. Never rejects. */
  hears(within: number): Promise<boolean>;
  /** From the server's INFO; nothing where the user has no right to it. */
  describe(): Description;
  close(): Promise<void>;
}

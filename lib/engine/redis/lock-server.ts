import type { Clock } from '../options/index.js';
import type { ForeignChannels } from './foreign-channels.js';
import type { KeyType } from './key-names.js';
import type { Step, StepNode } from './redis-node.js';
import type { Description } from './server-check.js';
import type { ServerHealth } from './server-health.js';
import type { ServerClock } from './server-clock.js';

/** The listener to a server, and to this process's inbox there. */
export interface ServerListener {
  /** A message arrived in the inbox, as the scripts write it. */
  message(text: string): void;
  /** A connection, of commands or of the inbox, was lost and is back, or locks live on another node now. */
  reconnected(): void;
  /** The subscription to the inbox failed after a reconnect, for this reason. */
  unheard?(error: unknown): void;
}

/** A Redis, or a Cluster of them, as this process uses it. */
export interface LockServer {
  readonly time: Clock;
  /** The part of an inbox's name before the name of its process. */
  readonly inboxPrefix: string;
  readonly foreignChannels: ForeignChannels;
  readonly ready: boolean;
  /**
   * Connects and tries the rights to SUBSCRIBE and PUBLISH.
   * @throws LockStoreError in bounded time; nothing stays open then.
   */
  open(listener: ServerListener): Promise<void>;
  /** Takes a step at its node. If that node answers that the lock lives elsewhere, takes it there, dated anew. */
  take<Answer>(step: Step<Answer>): Promise<Answer>;
  /**
   * Takes several runs at the node where `redisKey` lives, and begins anew if it lives elsewhere. `key`: the lock's, for
   * errors.
   */
  at<Answer>(
    redisKey: string,
    key: string | undefined,
    step: (node: StepNode) => Promise<Answer>,
    wanted?: () => boolean,
  ): Promise<Answer>;
  /** The slot of a key: locks of one slot may share a script. */
  slotOf(key: string): number;
  /** The tag of the key that counts this lock's tokens: empty, or a number in the lock's slot where keys have slots. */
  fenceTagOf(key: string): string;
  /** The clock of the server on which the lock `key` lives. */
  clockOf(key: string): ServerClock | undefined;
  /** The keys of a type that match a Redis pattern, on all nodes. */
  typedKeys(glob: string, type: KeyType): AsyncIterable<string>;
  /** A push was missed: reconnects the inbox unless it hears a message now. A half-open connection tells nothing itself. */
  doubtChannel(): void;
  /**
   * The health of each server: whether it takes, within `within` ms, a step without effect on a key behind this prefix.
   * Never rejects.
   */
  health(prefix: string, within: number): Promise<ServerHealth[]>;
  /** Whether this process hears, within `within` ms, a message to its inbox. Never rejects. */
  hears(within: number): Promise<boolean>;
  /** A description from the server's INFO; without a version if the user has no right to INFO. */
  describe(): Description;
  close(): Promise<void>;
}

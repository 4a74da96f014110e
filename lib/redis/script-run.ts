import type { LuaScript } from './lua-script.js';
import { Pending } from './pending.js';
import type { KeyList, Operand } from './resp.js';

/** One run of a script. */
export interface ScriptRun<Answer> {
  readonly script: LuaScript<string, string>;
  readonly keys: KeyList;
  readonly args: readonly Operand[];
  /** The lock's key, for messages. */
  readonly key?: string | undefined;
  /** When it is sent (monotonic ms), if that is known already. */
  readonly sentAt?: number;
  /** False as soon as nobody needs the run any more: it is not sent again then. */
  readonly wanted?: () => boolean;
  /** Told when the server did not take it and it is sent again, behind all that was sent since. */
  readonly sentAgain?: () => void;
  /** ASKING goes before it: the slot of its keys is still on its way to this node of a Cluster. */
  readonly asking?: boolean;
  /** Of an answer that counts only when replicas have what was written: what it is, or throws, when too few do. */
  readonly unconfirmed?: (answer: Answer, error: Error) => Answer;
  /** What Redis' reply means; strings in it are strings. May throw what the run rejects with. */
  readonly read: (reply: unknown, receivedAt: number) => Answer;
}

/** A run that waits for its answer. */
export class PendingRun extends Pending {
  /** The server had forgotten its script, and it was sent again. */
  repeated = false;

  constructor(
    readonly run: ScriptRun<unknown>,
    sentAt: number,
  ) {
    super(run.key, sentAt);
  }
}

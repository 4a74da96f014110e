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
  /** False as soon as nobody needs the run any more: it is not repeated as EVAL then. */
  readonly wanted?: () => boolean;
  /** ASKING goes before it: the slot of its keys is still on its way to this node of a Cluster. */
  readonly asking?: boolean;
  /** Of an answer that counts only when replicas have what was written: what it is, or throws, when too few do. */
  readonly unconfirmed?: (answer: Answer, error: Error) => Answer;
  /** What Redis' reply means; strings in it are strings. May throw what the run rejects with. */
  readonly read: (reply: unknown, receivedAt: number) => Answer;
}

/** A run that waits for its answer. */
export class PendingRun extends Pending {
  constructor(
    readonly run: ScriptRun<unknown>,
    sentAt: number,
  ) {
    super(run.key, sentAt);
  }
}

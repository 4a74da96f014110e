import { DialectLock } from '../../lib/engine/locks/dialects/dialect-lock.js';
import { type LockDialect, lockFormat } from '../../lib/engine/options/index.js';
import type { LockServer } from '../../lib/engine/redis/index.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

/** A server on which every lock is busy, until a test says otherwise. */
export class BusyServer {
  readonly clock = new ManualClock();
  /** What the next scripts fail with. */
  errors: Error[] = [];
  /** What the next scripts answer. */
  replies: unknown[][] = [];
  /** To how many nodes an ask is sent, one after the other. */
  nodes = 1;
  /** How many scripts were sent. */
  sent = 0;
  /** Until when each ask may take effect: the moment that it was dated. */
  readonly dated: number[] = [];

  readonly #node = {
    clock: { learn() {} },
    notAfter: (at: number) => this.dated.push(at),
    run: async (run: ScriptRun<unknown>) => {
      this.sent += 1;
      const error = this.errors.shift();
      if (error) throw error;
      return run.read(this.replies.shift() ?? ['busy', 500, 1, -1], 0);
    },
  };

  /** Its locks in this format. */
  lockOf(dialect: LockDialect): DialectLock {
    const node = this.#node;
    const server = {
      time: this.clock,
      slotOf: () => 0,
      fenceTagOf: () => '',
      at: async (_lock: string, _key: string, step: (at: typeof node) => unknown) => {
        for (let sentOn = 1; sentOn < this.nodes; sentOn += 1) {
          await step(node);
          await this.clock.advance(50);
        }
        return step(node);
      },
    } as unknown as LockServer;
    const around = {
      clientPrefix: '',
      inboxPrefix: 'inbox:',
      waitersPerKey: 9,
      freed() {},
      message() {},
    };
    return new DialectLock(server, lockFormat(dialect), around);
  }
}

import {
  lockServer,
  type LockServer,
  type Step,
  type StepNode,
} from '../../lib/engine/redis/index.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { ServerClock } from '../../lib/engine/redis/server-clock.js';
import type { ManualClock } from '../../lib/memory/testing/index.js';

export const UNREACHED = new Error('too few replicas');

/** A node that tells of each run, and answers it by the next of its replies. */
export class ReplyingNode implements StepNode {
  readonly clock = new ServerClock();
  /** What it answers, one after another. */
  replies: unknown[] = [];
  /** How long each answer is under way, in ms. */
  way = 0;
  /** Whether its replicas have what was run. */
  confirmed = true;

  constructor(
    private readonly time: ManualClock,
    private readonly heard: (run: ScriptRun<unknown>) => void,
  ) {}

  notAfter(now: number): number {
    return 5_000_000 + now * 1_000;
  }

  async run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    this.heard(run as ScriptRun<unknown>);
    await this.time.advance(this.way);
    const answer = await run.read(this.replies.shift(), this.time.monotonic());
    return this.confirmed || !run.unconfirmed ? answer : run.unconfirmed(answer, UNREACHED);
  }
}

/** A server that has this node alone. */
export function serverAt(node: StepNode, clock: ManualClock): LockServer {
  const real = lockServer({ host: 'nowhere' }, 500, clock, 'inbox:', 'me');
  return Object.assign(Object.create(real) as LockServer, {
    take: (step: Step<unknown>) => node.run(step.on(node)),
    slotOf: () => 0,
    fenceTagOf: () => '',
  });
}

// Jobs under @Locked, above and below the decorators that call them again and again.
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval } from '@nestjs/schedule';
import { Locked } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

/** What the jobs of all replicas do. */
class Done {
  running = 0;
  most = 0;
  ticks = 0;
  readonly runs: Record<string, number> = {};
  readonly leave = new Gate();

  /** Stays inside until the test opens the gate. */
  async run(job: string): Promise<void> {
    this.runs[job] = (this.runs[job] ?? 0) + 1;
    this.most = Math.max(this.most, (this.running += 1));
    await this.leave.opened;
    this.running -= 1;
  }
}

export const done = new Done();

@Injectable()
export class Jobs {
  @Interval('unlocked', 5)
  tick(): void {
    done.ticks += 1;
  }

  @Locked('interval', { onBusy: 'skip' })
  @Interval('above', 5)
  async above(): Promise<void> {
    await done.run('interval');
  }

  @Interval('below', 5)
  @Locked('interval', { onBusy: 'skip' })
  async below(): Promise<void> {
    await done.run('interval');
  }

  @Locked('cron', { onBusy: 'skip' })
  @Cron(CronExpression.EVERY_SECOND, { name: 'above' })
  async cronAbove(): Promise<void> {
    await done.run('cron');
  }

  @Cron(CronExpression.EVERY_SECOND, { name: 'below' })
  @Locked('cron', { onBusy: 'skip' })
  async cronBelow(): Promise<void> {
    await done.run('cron');
  }
}

import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Locked } from 'nest-redis-lock';
import { Outbox } from './outbox.js';

@Injectable()
export class DigestService {
  constructor(private readonly outbox: Outbox) {}

  /**
   * One replica sends the digest, the others skip it. It is sent in a moment, so the lock is kept for as
   * long as clocks may differ: a replica whose clock is late finds it taken still.
   */
  @Cron(CronExpression.EVERY_SECOND)
  @Locked('digest', { onBusy: 'skip', minHold: '500ms' })
  async send(): Promise<void> {
    this.outbox.send();
  }

  /** The same without minHold: replicas send it again whose turn comes after the first has sent it. */
  @Cron(CronExpression.EVERY_SECOND)
  @Locked('careless-digest', { onBusy: 'skip' })
  async sendCarelessly(): Promise<void> {
    this.outbox.sendCarelessly();
  }
}

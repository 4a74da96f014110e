import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Locked } from 'nest-redis-lock';

@Injectable()
export class DigestService {
  readonly sent: string[] = [];

  // #region cron
  @Cron('0 7 * * *')
  @Locked('digest', { onBusy: 'skip', minHold: '1m' }) // clocks of replicas may differ by a minute
  async sendDigest(): Promise<void> {
    this.sent.push('digest');
  }
  // #endregion
}

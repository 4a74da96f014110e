// Work that is skipped where its lock is busy, done where Redis is down, or done by a leader alone.
import { Injectable } from '@nestjs/common';
import { LeaderOnly, Locked } from '../../lib/index.js';

@Injectable()
export class Work {
  led = 0;

  @Locked('busy', { wait: 0, onBusy: 'skip' })
  async skipped(): Promise<string | undefined> {
    return 'done';
  }

  @Locked('down', { wait: 0, onUnavailable: 'proceed' })
  async anyway(): Promise<string> {
    return 'done';
  }

  @LeaderOnly('throwing', { ttl: '2s' })
  async lead(): Promise<void> {
    this.led += 1;
  }
}

import { Injectable } from '@nestjs/common';
import { type BusyContext, Locked, LockNotAcquiredError } from '../../lib/index.js';

/** What `onBusy` was told. */
export const calls: BusyContext[] = [];

/** Imports that wait for their lock shortly or not at all, each with another answer where it is busy. */
@Injectable()
export class Imports {
  runs = 0;

  @Locked('import:<id>', { wait: 0 })
  async thrown(id: string): Promise<string> {
    this.runs += 1;
    return id;
  }

  @Locked('import:<id>', { onBusy: 'skip' })
  async skipped(_: number, id: string): Promise<void> {
    this.runs += 1;
    if (id === 'failing') throw new LockNotAcquiredError('another lock', 7);
  }

  @Locked('import:<id>', { onBusy: 'skip', wait: undefined })
  async skippedUnset(id: string): Promise<void> {
    this.runs += id.length;
  }

  @Locked('import:<id>', { onBusy: 'skip', wait: '50ms' })
  async skippedLate(id: string): Promise<void> {
    this.runs += id.length;
  }

  @Locked('import:<id>', { onBusy: 'skip', wait: '10s', maxWaiting: 1 })
  async skippedInCrowd(id: string): Promise<void> {
    this.runs += id.length;
  }

  @Locked('import:<id>', {
    wait: 0,
    onBusy: (context) => {
      calls.push(context);
      return 'instead';
    },
  })
  async replaced(id: string, inside?: Error): Promise<string> {
    this.runs += 1;
    if (inside) throw inside;
    return id;
  }

  @Locked('import:<id>', { wait: 0, onBusy: async () => 'later' })
  async replacedLater(id: string): Promise<string> {
    return id;
  }

  @Locked('import:<id>', {
    wait: 0,
    onBusy: () => {
      throw new RangeError('come back');
    },
  })
  async refused(id: string): Promise<string> {
    return id;
  }
}

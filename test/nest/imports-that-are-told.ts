import { Injectable } from '@nestjs/common';
import { from, Observable } from 'rxjs';
import { CurrentLease, Lease, Locked } from '../../lib/index.js';

type Work = (lease: Lease) => Promise<string>;
type Loss = (lease: Lease) => Promise<void>;

/** Imports under locks that do what a test tells them, with the lease in hand. */
@Injectable()
export class Imports {
  @Locked('import')
  async run(work: Work, @CurrentLease() lease?: Lease): Promise<string> {
    return work(lease!);
  }

  @Locked('import', { onLost: 'ignore' })
  async runAnyway(work: Work, @CurrentLease() lease?: Lease): Promise<string> {
    return work(lease!);
  }

  @Locked('import', { ttl: '100ms', renew: false })
  async runShortly(work: Work, @CurrentLease() lease?: Lease): Promise<string> {
    return work(lease!);
  }

  @Locked(['account', 'import'])
  async runBoth(work: Loss, @CurrentLease() lease?: Lease): Promise<string> {
    await work(lease!);
    return 'done';
  }

  @Locked(['account', 'import'])
  streamBoth(work: Loss, @CurrentLease() lease?: Lease): Observable<string> {
    return from(work(lease!).then(() => 'done'));
  }

  @Locked(['account', 'import'])
  async *iterateBoth(work: Loss, @CurrentLease() lease?: Lease): AsyncGenerator<string> {
    await work(lease!);
    yield 'done';
  }
}

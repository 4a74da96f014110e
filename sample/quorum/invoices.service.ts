import { Injectable } from '@nestjs/common';
import { CurrentLease, type Lease, Locked } from 'nest-redis-lock';
import { Book } from './book.js';

@Injectable()
export class InvoicesService {
  constructor(private readonly book: Book) {}

  /** The next invoice number, without a gap and never twice. Nothing in here says that the lock is a quorum's. */
  @Locked('invoices')
  async next(@CurrentLease() lease?: Lease): Promise<number> {
    const number = (await this.book.last()) + 1;
    lease!.assertHeld();
    await this.book.enter(number);
    return number;
  }
}

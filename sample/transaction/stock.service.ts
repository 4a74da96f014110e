import { ConflictException, Injectable } from '@nestjs/common';
import { Locked, LockKey } from 'nest-redis-lock';
import { Database } from './database.js';
import { Transactional } from './transactional.decorator.js';

@Injectable()
export class StockService {
  constructor(readonly database: Database) {}

  @Transactional()
  async fill(item: string, pieces: number): Promise<void> {
    this.database.write(`stock:${item}`, pieces);
  }

  left(item: string): Promise<number> {
    return this.database.read(`stock:${item}`);
  }

  /**
   * Lock, transaction, method: decorators work from the top down, so the commit comes before the
   * release, and the next buyer reads what this one wrote. `@LockKey` says the name that `@Locked`
   * cannot read from the parameters: it sees the function that `@Transactional` has made.
   */
  @Locked('stock:<item>')
  @Transactional()
  async sell(@LockKey('item') item: string): Promise<void> {
    await this.takeOne(item);
  }

  /** Wrong: the lock is given back before the commit, and the next buyer reads the old stock. */
  @Transactional()
  @Locked('stock:<item>')
  async sellAndCommitTooLate(item: string): Promise<void> {
    await this.takeOne(item);
  }

  private async takeOne(item: string): Promise<void> {
    const left = await this.left(item);
    if (left === 0) throw new ConflictException('Sold out.');
    this.database.write(`stock:${item}`, left - 1);
  }
}

import { Injectable } from '@nestjs/common';
import { and, eq, sql } from 'drizzle-orm';
import { PgliteDatabase } from 'drizzle-orm/pglite';
import { CurrentLease, fencedSql, type Lease, Locked } from 'nest-redis-lock';
import { ExchangeRates } from './exchange-rates.js';
import { payouts, shops } from './schema.js';

const fence = fencedSql('shops.fence');

@Injectable()
export class PayoutsService {
  constructor(
    private readonly database: PgliteDatabase,
    private readonly rates: ExchangeRates,
  ) {}

  /**
   * Pays out all that a shop has, in dollars. Lock, transaction, method: the lock is around the question for the rate,
   * during which no row should stay locked, and around the transaction, whose commit comes before the release.
   */
  @Locked('shop:<shop>')
  async payOut(shop: string, @CurrentLease() lease?: Lease): Promise<number> {
    const [row] = await this.database.select().from(shops).where(eq(shops.id, shop));
    if (!row?.balance) return 0;
    const amount = row.balance * (await this.rates.dollar());
    await this.#book(shop, amount, lease!);
    return amount;
  }

  /** @throws StaleFencingTokenError if a later holder of the lock has written: then nothing is booked. */
  async #book(shop: string, amount: number, lease: Lease): Promise<void> {
    const token = lease.fencingToken;
    await this.database.transaction(async (transaction) => {
      await transaction.insert(payouts).values({ shop, amount });
      const written = await transaction
        .update(shops)
        .set({ balance: 0, fence: token })
        .where(and(eq(shops.id, shop), sql`${sql.raw(fence.where())} ${token}`));
      fence.assertWritten(written, lease); // what it throws rolls back the payout as well
    });
  }
}

import type { Account } from '../accounts/accounts.repository.js';
import type { Change } from './workload.js';

/** What the accounts must hold, by what the bank has confirmed. */
export class Books {
  readonly #accounts: Map<string, Account>;

  constructor(accounts: readonly string[], opening: Account) {
    this.#accounts = new Map(accounts.map((id) => [id, opening]));
  }

  confirm(changes: readonly Change[]): void {
    for (const [id, amount] of changes) {
      const { balance, bookings } = this.#accounts.get(id)!;
      this.#accounts.set(id, { balance: balance + amount, bookings: bookings + 1 });
    }
  }

  /** Every booking counts up `bookings`: what is missing there was overwritten by another. */
  compare(actual: ReadonlyMap<string, Account>): Comparison {
    const comparison = { expected: 0, actual: 0, lostUpdates: 0, wrongAccounts: 0 };
    for (const [id, expected] of this.#accounts) {
      const found = actual.get(id)!;
      comparison.expected += expected.balance;
      comparison.actual += found.balance;
      comparison.lostUpdates += expected.bookings - found.bookings;
      comparison.wrongAccounts += Number(expected.balance !== found.balance);
    }
    return comparison;
  }
}

/** The sums over all accounts. */
export interface Comparison {
  readonly expected: number;
  readonly actual: number;
  readonly lostUpdates: number;
  readonly wrongAccounts: number;
}

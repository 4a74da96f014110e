// Accounts of which one call at a time changes each, and the balance that would show it otherwise.
import { Injectable } from '@nestjs/common';
import { CurrentLease, Lease, Locked } from '../../lib/index.js';
import { Balance } from '../support/balance.js';
import { Gate } from '../support/gate.js';

export const balance = new Balance();

@Injectable()
export class Accounts {
  readonly name = 'accounts';

  @Locked('account:<id>')
  async deposit(id: string, amount: number): Promise<number> {
    return balance.add(amount);
  }

  @Locked('account:<id>')
  async hold(id: string, entered: Gate, leave: Gate): Promise<void> {
    entered.open();
    await leave.opened;
  }

  @Locked('account:<id>')
  async fail(id: string): Promise<void> {
    throw new TypeError(`not enough money on ${id}`);
  }

  @Locked('account:<id>')
  async lease(id: string, note?: string, @CurrentLease() lease?: Lease): Promise<Lease> {
    return lease!;
  }
}

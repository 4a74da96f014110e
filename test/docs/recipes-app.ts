import { setImmediate } from 'node:timers/promises';
import type { AppParts } from '../support/nest-app.js';
import { pasted } from './pages.js';

export const recipes = await pasted<any>('docs/recipes.md');

/** Reads and writes one after the other, as a database does. */
class Balances extends recipes.Balances {
  readonly rows = new Map<string, number>();

  async read(id: string): Promise<number> {
    await setImmediate();
    return this.rows.get(id) ?? 100;
  }

  async write(id: string, balance: number): Promise<void> {
    await setImmediate();
    this.rows.set(id, balance);
  }
}

/** Its first booking begins and is never committed. */
export class Payments extends recipes.Payments {
  readonly begun: string[] = [];
  readonly done: string[] = [];
  die = (): void => {};

  async isDone(id: string): Promise<boolean> {
    await setImmediate();
    return this.done.includes(id);
  }

  async book({ id }: { id: string }): Promise<void> {
    this.begun.push(id);
    if (this.begun.length === 1) await new Promise((_, reject) => (this.die = reject));
    await setImmediate();
    this.done.push(id);
  }
}

/** What each replica of the recipes consists of: all have one database. */
export const recipesApp: AppParts = {
  controllers: [recipes.LocksController],
  providers: [
    { provide: recipes.Balances, useValue: new Balances() },
    recipes.AccountsService,
    recipes.ReportsService,
    recipes.DigestService,
    recipes.TenantContext,
    recipes.InvoicesService,
    recipes.ImportService,
    recipes.LedgerService,
  ],
};

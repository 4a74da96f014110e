import { PGlite } from '@electric-sql/pglite';
import { bigint, integer, pgTable, serial, text } from 'drizzle-orm/pg-core';
import { drizzle, type PgliteDatabase } from 'drizzle-orm/pglite';

export const shops = pgTable('shops', {
  id: text('id').primaryKey(),
  balance: integer('balance').notNull(),
  /** The newest fencing token under which the row was written. */
  fence: bigint('fence', { mode: 'number' }),
});

export const payouts = pgTable('payouts', {
  id: serial('id').primaryKey(),
  shop: text('shop').notNull(),
  amount: integer('amount').notNull(),
});

/** PostgreSQL inside this process, empty. An application has a server, and `drizzle-orm/node-postgres`. */
export async function openDatabase(): Promise<PgliteDatabase & { readonly $client: PGlite }> {
  const client = await PGlite.create();
  await client.exec(`
    CREATE TABLE shops (id TEXT PRIMARY KEY, balance INTEGER NOT NULL, fence BIGINT);
    CREATE TABLE payouts (id SERIAL PRIMARY KEY, shop TEXT NOT NULL, amount INTEGER NOT NULL);`);
  return drizzle(client);
}

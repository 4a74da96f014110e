import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { raw } from '@electric-sql/pglite/template';
import {
  fencedSql,
  type FencedSqlOptions,
  LockOptionsError,
  StaleFencingTokenError,
} from '../../lib/index.js';

let db: PGlite;
beforeAll(async () => {
  db = await PGlite.create();
  await db.exec(`
    CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INT NOT NULL, fence BIGINT);
    CREATE TABLE "Order" (id INT PRIMARY KEY, "fencing ""token" BIGINT NOT NULL DEFAULT 0);`);
});
beforeEach(async () => {
  await db.exec("TRUNCATE accounts; INSERT INTO accounts VALUES ('ann', 100, NULL)");
});
afterAll(() => db.close());

const fence = fencedSql('fence');

/** Of the size that locks give out. */
const TOKEN = 1_790_000_000_000_000;

describe('an UPDATE under a fencing token, on Postgres', () => {
  it('goes through with the newest token, however often, and is refused with an older one', async () => {
    await write(1, TOKEN);
    await write(2, TOKEN);
    await write(3, TOKEN + 1);
    await expect(write(4, TOKEN)).rejects.toThrow(StaleFencingTokenError);
    expect(await ann()).toEqual({ balance: 3, fence: TOKEN + 1 });
  });

  it('is refused with an error that names the lock, the column and the token', async () => {
    await write(1, TOKEN + 1);
    const result = await db.query(
      `UPDATE accounts SET balance = $1, ${fence.set('$2')} WHERE ${fence.where('$2')}`,
      [2, TOKEN],
    );
    const lease = { key: 'account:ann', fencingToken: TOKEN };
    expect(() => fence.assertWritten(result, lease)).toThrow(
      expect.objectContaining({
        code: 'STALE_FENCING_TOKEN',
        key: 'account:ann',
        resource: 'fence',
        token: TOKEN,
        newest: undefined,
      }),
    );
  });

  it('is refused too where there is no such row', async () => {
    await expect(write(1, TOKEN, 'nobody')).rejects.toThrow('no such row');
  });

  it('rolls its transaction back when the caller lets the error through', async () => {
    await write(1, TOKEN + 1);
    const transaction = db.transaction(async (tx) => {
      await tx.query("INSERT INTO accounts VALUES ('bob', 1, 0)");
      const sql = `UPDATE accounts SET balance = 9, ${fence.set('$1')} WHERE id = 'ann' AND ${fence.where('$1')}`;
      fence.assertWritten(await tx.query(sql, [TOKEN]), TOKEN);
    });
    await expect(transaction).rejects.toThrow(StaleFencingTokenError);
    expect((await db.query('SELECT id FROM accounts')).rows).toEqual([{ id: 'ann' }]);
  });

  it('is an upsert where the row may be missing: then no row means stale', async () => {
    const guarded = fencedSql('accounts.fence');
    const upsert = async (id: string, balance: number, token: number): Promise<void> => {
      const sql = `
        INSERT INTO accounts (id, balance, fence) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET balance = $2, ${guarded.set('$3')} WHERE ${guarded.where('$3')}`;
      guarded.assertWritten(await db.query(sql, [id, balance, token]), token);
    };
    await upsert('bob', 1, TOKEN);
    await upsert('bob', 2, TOKEN + 1);
    await expect(upsert('bob', 3, TOKEN)).rejects.toThrow(StaleFencingTokenError);
    const { rows } = await db.query("SELECT balance FROM accounts WHERE id = 'bob'");
    expect(rows).toEqual([{ balance: 2 }]);
  });

  it('may be written with a tagged template, which binds what stands in it', async () => {
    const write = (balance: number, token: number) =>
      db.sql`UPDATE accounts SET balance = ${balance}, ${raw`${fence.set()}`} ${token} WHERE ${raw`${fence.where()}`} ${token}`;
    fence.assertWritten(await write(1, TOKEN + 1), TOKEN + 1);
    const late = await write(2, TOKEN);
    expect(() => fence.assertWritten(late, TOKEN)).toThrow(StaleFencingTokenError);
  });

  it('may have a column whose name needs quotes', async () => {
    const quoted = fencedSql('Order.fencing "token', { quotes: 'postgres' });
    await db.query('INSERT INTO "Order" VALUES (1)');
    const sql = `UPDATE "Order" SET ${quoted.set('$1')} WHERE ${quoted.where('$1')}`;
    quoted.assertWritten(await db.query(sql, [TOKEN]), TOKEN);
    const late = await db.query(sql, [TOKEN - 1]);
    expect(() => quoted.assertWritten(late, TOKEN - 1)).toThrow(StaleFencingTokenError);
  });

  it('leaves the newest of many that come in any order', async () => {
    const tokens = Array.from({ length: 30 }, (_, at) => TOKEN + at).sort(
      () => Math.random() - 0.5,
    );
    await Promise.allSettled(tokens.map((token) => write(token - TOKEN, token)));
    expect(await ann()).toEqual({ balance: 29, fence: TOKEN + 29 });
  });
});

describe('the text for an UPDATE', () => {
  it.each<[string, FencedSqlOptions['quotes'], string, string]>([
    ['fence', undefined, 'fence = ?', 'COALESCE(fence, 0) <= ?'],
    ['accounts.fence', undefined, 'fence = ?', 'COALESCE(accounts.fence, 0) <= ?'],
    ['fencingToken', 'postgres', '"fencingToken" = ?', 'COALESCE("fencingToken", 0) <= ?'],
    ['fencingToken', 'mysql', '`fencingToken` = ?', 'COALESCE(`fencingToken`, 0) <= ?'],
    ['a.fence', 'mssql', '[fence] = ?', 'COALESCE([a].[fence], 0) <= ?'],
    ['`x`', 'mysql', '```x``` = ?', 'COALESCE(```x```, 0) <= ?'],
    [']x', 'mssql', '[]]x] = ?', 'COALESCE([]]x], 0) <= ?'],
  ])('of %s with quotes %s', (column, quotes, set, where) => {
    const guard = fencedSql(column, { quotes });
    expect([guard.set('?'), guard.where('?')]).toEqual([set, where]);
  });

  it.each(['', 'a b', 'fence = 0 OR 1', 'a;b', 'a--', 'a..b', '.a', '1a', '"a"', 'a\nb', 7, null])(
    'is of no column that is no name: %j',
    (column) => expect(() => fencedSql(column as string)).toThrow(LockOptionsError),
  );

  it.each(['', 'a.', 'a\nb', 'a\0'])('nor, in quotes, of %j', (column) => {
    expect(() => fencedSql(column, { quotes: 'postgres' })).toThrow(LockOptionsError);
  });

  it('is in the quotes of a database that we know', () => {
    expect(() => fencedSql('fence', { quotes: 'db2' as 'mysql' })).toThrow('"quotes"');
    expect(() => fencedSql('fence', { quotes: 'toString' as 'mysql' })).toThrow('"quotes"');
  });

  it.each(['$1', '$token', '?', '?2', ':token', '@token'])('takes the placeholder %s', (name) => {
    expect(fence.set(name)).toBe(`fence = ${name}`);
  });

  it.each([7, '7', '1 OR 1', '$1 OR 1', '', ':', "'7'"])('takes no value: %j', (value) => {
    expect(() => fence.set(value as string)).toThrow('never the value');
    expect(() => fence.where(value as string)).toThrow('never the value');
  });
});

async function write(balance: number, token: number, id = 'ann'): Promise<void> {
  const result = await db.query(
    `UPDATE accounts SET balance = $1, ${fence.set('$2')} WHERE id = $3 AND ${fence.where('$2')}`,
    [balance, token, id],
  );
  fence.assertWritten(result, token);
}

async function ann(): Promise<unknown> {
  return (await db.query('SELECT balance, fence FROM accounts')).rows[0];
}

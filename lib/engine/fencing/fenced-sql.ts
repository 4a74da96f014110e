import { LockOptionsError, StaleFencingTokenError } from '../errors/index.js';
import { affectedRows } from './affected-rows.js';
import { type FencingTokenSource, tokenOf } from './fencing-token.js';

/** The options of {@link fencedSql}. */
export interface FencedSqlOptions {
  /** Puts the column in this database's quotes: for names with capitals or other characters. */
  readonly quotes?: SqlQuotes | undefined;
}

/** The placeholders of drivers for a bound value: `$1`, `?`, `?1`, `:token`, `@token`. */
const PLACEHOLDER = /^(?:\$\w+|\?\d*|[:@]\w+)$/;

/**
 * A column that keeps the fencing token a row was last written under. The guard gives the two pieces of text that an
 * `UPDATE` needs, and judges its outcome; it talks to no database and knows no driver. The driver always binds the token
 * itself, which is never part of the text.
 *
 * The column is a BIGINT (`INTEGER` in SQLite); NULL counts as 0. One lock guards one row: tokens of two locks say nothing
 * about each other.
 * @see https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
 */
export class FencedSql {
  readonly #column: string;
  readonly #name: string;

  /** @internal */
  constructor(column: string, { quotes }: FencedSqlOptions) {
    const parts = sqlIdentifier(column, quotes);
    this.#column = parts.join('.');
    this.#name = parts.at(-1)!;
  }

  /** The text for SET: `fence = $3`; without a placeholder, the text before the value: `fence =`. */
  set(placeholder?: string): string {
    return join(`${this.#name} =`, placeholder);
  }

  /** The text for WHERE: `COALESCE(fence, 0) <= $3`; without a placeholder, the text before the value. */
  where(placeholder?: string): string {
    return join(`COALESCE(${this.#column}, 0) <=`, placeholder);
  }

  /**
   * Checks the driver's answer, or the number of rows. Without a row, a later holder has written, or there is no such row;
   * only an upsert tells which of them (`ON CONFLICT … DO UPDATE … WHERE`).
   * @throws StaleFencingTokenError if no row was written; roll back.
   * @throws LockOptionsError if the answer does not say how many rows there were.
   */
  assertWritten(result: unknown, source: FencingTokenSource): void {
    const { token, key } = tokenOf(source);
    const rows = affectedRows(result);
    if (rows === undefined || Number.isNaN(rows)) {
      throw new LockOptionsError(
        'assertWritten cannot tell how many rows were written: give it the number of rows.',
      );
    }
    if (rows <= 0) throw new StaleFencingTokenError(this.#name, token, undefined, key);
  }
}

function join(text: string, placeholder: string | undefined): string {
  if (placeholder === undefined) return text;
  if (PLACEHOLDER.test(placeholder)) return `${text} ${placeholder}`;
  throw new LockOptionsError(
    'fencedSql takes the name of a bound value, $1, ? or :token, never the value.',
  );
}

/**
 * A guard for `UPDATE`, by a column such as `fence` or `accounts.fence`.
 * @example
 * ```ts
 * const fence = fencedSql('fence');
 * const sql = `UPDATE account SET balance = $1, ${fence.set('$2')} WHERE id = $3 AND ${fence.where('$2')}`;
 * fence.assertWritten(await db.query(sql, [70, lease.fencingToken, id]), lease);
 * ```
 * @throws LockOptionsError if `column` is no column.
 */
export function fencedSql(column: string, options: FencedSqlOptions = {}): FencedSql {
  return new FencedSql(column, options);
}

/** The database whose quotes an identifier gets. Without any, its case is folded as in your other SQL. */
export type SqlQuotes = 'postgres' | 'sqlite' | 'oracle' | 'mysql' | 'mssql';

/** The quotes of each database. MySQL takes "fence" for a text, which is below every number. */
const QUOTES: Readonly<Record<SqlQuotes, readonly [open: string, close: string]>> = {
  postgres: ['"', '"'],
  sqlite: ['"', '"'],
  oracle: ['"', '"'],
  mysql: ['`', '`'],
  mssql: ['[', ']'],
};

/** A name that every database reads without quotes. */
const PLAIN = /^[A-Za-z_]\w*$/;

/**
 * The parts of a column's name as they stand in SQL: `fence`, `accounts.fence`, or each part in quotes.
 * @throws LockOptionsError if a part is not one name.
 */
export function sqlIdentifier(column: string, quotes: SqlQuotes | undefined): string[] {
  if (quotes !== undefined && !Object.hasOwn(QUOTES, quotes)) {
    const choice = Object.keys(QUOTES).map((name) => `'${name}'`);
    throw new LockOptionsError(`Option "quotes" takes ${choice.join(', ')}.`);
  }
  const [open, close] = quotes ? QUOTES[quotes] : [];
  const parts = typeof column === 'string' ? column.split('.') : [''];
  return parts.map((part) => {
    if (close === undefined ? !PLAIN.test(part) : part === '' || /\p{Cc}/u.test(part)) {
      throw new LockOptionsError(
        'The column of fencedSql is no name: letters, digits and _, with a table before a dot. Other names need "quotes".',
      );
    }
    return close === undefined ? part : open + part.replaceAll(close, close + close) + close;
  });
}

import { LockOptionsError } from '../errors/index.js';

/** Whose quotes an identifier gets. Without any, a database folds its case as it folds that of your other SQL. */
export type SqlQuotes = 'postgres' | 'sqlite' | 'oracle' | 'mysql' | 'mssql';

/** MySQL takes "fence" for a text, and a text is below every number: its quotes are others. */
const QUOTES: Readonly<Record<SqlQuotes, readonly [open: string, close: string]>> = {
  postgres: ['"', '"'],
  sqlite: ['"', '"'],
  oracle: ['"', '"'],
  mysql: ['`', '`'],
  mssql: ['[', ']'],
};

/** What every database reads as one name without quotes. */
const PLAIN = /^[A-Za-z_]\w*$/;

/**
 * A column as it stands in SQL: `fence`, `accounts.fence`, or each part in quotes. Nothing that is not one
 * name a part gets through.
 * @throws LockOptionsError
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

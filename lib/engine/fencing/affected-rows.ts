/** The fields in which drivers say how many rows a statement touched. */
const COUNTS = [
  'rowCount', // pg, PGlite
  'affectedRows', // mysql2, MariaDB
  'affected', // TypeORM's query builders
  'numUpdatedRows', // Kysely
  'numInsertedOrUpdatedRows', // Kysely's upsert
  'numAffectedRows', // Kysely's raw SQL
  'rowsAffected', // mssql, oracledb, libSQL
  'changes', // SQLite
  'count', // postgres.js, Prisma's updateMany
] as const;

/**
 * How many rows a statement touched, by its driver's answer; undefined if that does not say. Rows that a statement returns
 * are not counted: the caller knows their number. Nor is a list of one number: Sequelize means rows by it, Knex on SQLite an id.
 */
export function affectedRows(result: unknown): number | undefined {
  if (typeof result === 'number' || typeof result === 'bigint') return Number(result);
  if (typeof result !== 'object' || result === null) return undefined;
  const named = COUNTS.map((name) => (result as Record<string, unknown>)[name]).find(isCount);
  if (named !== undefined) return total(named);
  if (!Array.isArray(result)) return undefined;
  const [first, second] = result as unknown[];
  if (Array.isArray(first) && isCount(second)) return total(second); // TypeORM's query(): [rows, count]
  const alone = second === undefined || second === first || Array.isArray(second);
  const isHeader = result.length <= 2 && isObject(first) && HEADERS.some((name) => name in first);
  return isHeader && alone ? affectedRows(first) : undefined; // mysql2: [header, fields]; Kysely: [result]; Sequelize: [header, header]
}

const HEADERS = ['affectedRows', 'numUpdatedRows', 'numInsertedOrUpdatedRows'];

type Count = number | bigint | readonly (number | bigint)[];

/** Whether a value is a count; mssql has a list, with a count for each statement of a batch. */
function isCount(value: unknown): value is Count {
  if (Array.isArray(value))
    return value.length > 0 && value.every((one) => !Array.isArray(one) && isCount(one));
  return typeof value === 'number' || typeof value === 'bigint';
}

/** The sum of a count; undefined if a batch wrote rows in part: only the caller knows which statement is guarded. */
function total(count: Count): number | undefined {
  const each = (typeof count === 'object' ? count : [count]).map(Number);
  const wrote = each.filter((rows) => rows > 0);
  if (wrote.length > 0 && wrote.length < each.length) return undefined;
  return each.reduce((all, one) => all + one, 0);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

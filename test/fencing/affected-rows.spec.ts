import { describe, expect, it } from '@jest/globals';
import { fencedSql, LockOptionsError, StaleFencingTokenError } from '../../lib/index.js';

const fence = fencedSql('fence');

/** What drivers answer to an UPDATE of `rows` rows. */
const ANSWERS: Record<string, (rows: number) => unknown> = {
  'a number: Knex, Prisma’s $executeRaw': (rows) => rows,
  'a bigint': BigInt,
  pg: (rows) => ({ command: 'UPDATE', rowCount: rows, rows: [] }),
  PGlite: (rows) => ({ rows: [], fields: [], affectedRows: rows }),
  mysql2: (rows) => [{ fieldCount: 0, affectedRows: rows, insertId: 0 }, undefined],
  'mysql2, with the columns of rows': (rows) => [{ affectedRows: rows }, []],
  MariaDB: (rows) => ({ affectedRows: rows, insertId: 0n, warningStatus: 0 }),
  'better-sqlite3, node:sqlite': (rows) => ({ changes: rows, lastInsertRowid: 0 }),
  libSQL: (rows) => ({ columns: [], rows: [], rowsAffected: rows }),
  mssql: (rows) => ({ recordsets: [], output: {}, rowsAffected: [rows] }),
  'mssql, of a batch': (rows) => ({ rowsAffected: [rows, rows] }),
  'postgres.js': (rows) => Object.assign([], { count: rows, command: 'UPDATE' }),
  'TypeORM’s query builders': (rows) => ({ raw: [], affected: rows, generatedMaps: [] }),
  'TypeORM’s query() on Postgres': (rows) => [[], rows],
  'Prisma’s updateMany': (rows) => ({ count: rows }),
  Kysely: (rows) => [{ numUpdatedRows: BigInt(rows), numChangedRows: undefined }],
  'Kysely, one': (rows) => ({ numUpdatedRows: BigInt(rows) }),
  'Kysely’s raw SQL': (rows) => ({ rows: [], numAffectedRows: BigInt(rows) }),
  'Kysely’s upsert': (rows) => [{ insertId: 1n, numInsertedOrUpdatedRows: BigInt(rows) }],
};

describe.each(Object.entries(ANSWERS))('an answer of %s', (_, answer) => {
  it('with a row is a success', () => {
    fence.assertWritten(answer(1), 5);
    fence.assertWritten(answer(2), 5);
  });

  it('without a row is a stale token', () => {
    expect(() => fence.assertWritten(answer(0), 5)).toThrow(StaleFencingTokenError);
  });
});

it.each([
  [undefined],
  [null],
  [true],
  ['UPDATE 1'],
  [NaN],
  [{}],
  [{ rowCount: null }],
  [{ affected: undefined }],
  [[]],
  [[1]], // rows to Sequelize’s update(), the id of the last row to Knex on SQLite
  [[{ id: 1 }]],
  [[{ count: 0 }]],
  [[[], undefined]],
  [{ rowsAffected: [] }],
  [{ rowsAffected: [[1]] }],
  [{ rowsAffected: [0, 1] }], // a stale update, and beside it an insert into a journal
  [{ rowsAffected: [1, 0] }],
  [[[], [0, 1]]],
  [[{ affectedRows: 1 }, { affectedRows: 0 }]],
  [[{ numUpdatedRows: 1n }, { numUpdatedRows: 0n }]],
])('an answer that does not say how many rows there were is refused: %p', (answer) => {
  expect(() => fence.assertWritten(answer, 5)).toThrow(LockOptionsError);
});

import { beforeEach, expect, it } from '@jest/globals';
import { type Labelled, SeriesTable } from '../../lib/watch/telemetry/series.js';

const of = (name: string, more: Partial<Labelled> = {}): Labelled => ({
  name,
  mode: 'exclusive',
  topology: 'redis',
  ...more,
});

let table: SeriesTable<string>;
beforeEach(() => {
  table = new SeriesTable(({ name, mode, topology }, error = 'none') =>
    [name, mode, topology, error].join(' '),
  );
});

it('one name has a series for each mode and each topology', () => {
  const kinds = [
    of('account'),
    of('account', { topology: 'quorum' }),
    of('account', { mode: 'shared' }),
    of('account', { mode: 'shared', topology: 'quorum' }),
  ];
  const all = kinds.map((each) => table.of(each));
  expect(new Set(all).size).toBe(4);
  expect(kinds.map((each) => table.of(each))).toEqual(all);
  expect([...table]).toEqual(all);
  expect(all.map(({ success }) => success.kept)).toEqual([
    'account exclusive redis none',
    'account exclusive quorum none',
    'account shared redis none',
    'account shared quorum none',
  ]);
});

it('the five hundred and first name shares a series with those after it, in its own mode and topology', () => {
  for (let nth = 0; nth < 500; nth += 1) table.of(of(`lock ${nth}`));
  const [first, second] = [table.of(of('one more')), table.of(of('another'))];
  expect(second).toBe(first);
  expect(first.subject).toEqual(of('(other)'));
  const quorum = table.of(of('a third', { topology: 'quorum' }));
  expect(quorum.subject).toEqual(of('(other)', { topology: 'quorum' }));
  expect(table.of(of('lock 499')).subject.name).toBe('lock 499');
  expect([...table]).toHaveLength(502);
});

it('each error is an outcome of its own, found again', () => {
  const series = table.of(of('account'));
  const busy = series.outcome('busy');
  expect(series.outcome('busy')).toBe(busy);
  expect(series.outcome(undefined)).toBe(series.success);
  expect([...series.outcomes(), series.outcome('store')].map(({ kept }) => kept)).toEqual([
    'account exclusive redis none',
    'account exclusive redis busy',
    'account exclusive redis store',
  ]);
});

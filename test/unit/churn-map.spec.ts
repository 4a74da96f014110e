import { expect, it } from '@jest/globals';
import { ChurnMap } from '../../lib/engine/client/leases/churn-map.js';

it('holds what was set and not deleted, however much has come and gone', () => {
  const map = new ChurnMap<number>();
  const kept = new Map<string, number>();
  for (let turn = 0; turn < 10_000; turn += 1) {
    map.set(String(turn), turn);
    kept.set(String(turn), turn);
    if (turn % 100 === 0) continue;
    map.delete(String(turn));
    kept.delete(String(turn));
  }
  expect([...map.values()]).toEqual([...kept.values()]);
  expect(map.size).toBe(kept.size);
  expect(map.get('100')).toBe(100);
  expect(map.has('101')).toBe(false);
  expect(map.delete('101')).toBe(false);
});

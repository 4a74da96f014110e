import { expect } from '@jest/globals';

/** Each is greater than the one before. */
export function expectGrowing(numbers: readonly number[]): void {
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
}

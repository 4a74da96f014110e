import { describe, expect, it } from '@jest/globals';
import { keyMatcher } from '../../lib/engine/options/index.js';

/** All texts of these letters, up to so long. */
function texts(letters: string, longest: number): string[] {
  const found = [''];
  for (let from = 0, length = 1; length <= longest; length += 1) {
    const to = found.length;
    for (const text of found.slice(from, to)) {
      for (const letter of letters) found.push(text + letter);
    }
    from = to;
  }
  return found;
}

describe('a pattern of keys', () => {
  it('matches what the regular expression matches', () => {
    for (const pattern of texts('ab*', 4)) {
      const [matches, whole] = [
        keyMatcher(pattern),
        new RegExp(`^${pattern.replaceAll('*', '.*')}$`),
      ];
      const wrong = texts('ab', 5).filter((key) => matches(key) !== whole.test(key));
      expect({ pattern, wrong }).toEqual({ pattern, wrong: [] });
    }
  });

  it('takes every other sign as it is, and line breaks as any text', () => {
    expect(keyMatcher('a.[b]+?')('a.[b]+?')).toBe(true);
    expect(keyMatcher('a.b')('axb')).toBe(false);
    expect(keyMatcher('a*b')('a\n\u2028b')).toBe(true);
  });

  it('holds up nothing, however many ways there are to part a long key', () => {
    const matches = keyMatcher('a*a*a*a*a*b');
    const from = performance.now();
    expect(matches('a'.repeat(60_000))).toBe(false);
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});

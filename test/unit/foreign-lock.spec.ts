import { describe, expect, it } from '@jest/globals';
import { ForeignLockError } from '../../lib/index.js';
import { lockFormat } from '../../lib/engine/options/index.js';

describe('the error of a foreign lock', () => {
  it.each([
    ['hash', 'Redisson', 'redisson'],
    ['zset', 'symfony/lock', 'symfony'],
    ['string', 'most libraries', 'plain'],
  ])('on a %s names %s, and dialect "%s", which there is', (type, owner, dialect) => {
    const { message } = new ForeignLockError('k', type);
    expect(message).toContain(owner);
    expect(message).toContain(`dialect "${dialect}"`);
    expect(lockFormat(dialect).family).toBe(dialect);
  });

  it('on what no lock is names no dialect', () => {
    expect(new ForeignLockError('k', 'stream').message).not.toContain('dialect');
  });
});

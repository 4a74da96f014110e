import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../../lib/watch/board/answers.js';
import { refuseOtherOrigins } from '../../lib/watch/board/same-origin.js';

describe('the check of the page', () => {
  it('refuses an opaque origin where the request names no host', () => {
    expect(() => refuseOtherOrigins({ origin: 'null' })).toThrow(Refusal);
  });
});

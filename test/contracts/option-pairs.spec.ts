import { describe, it } from '@jest/globals';
import { optionPairs } from './option-pairs.contract.js';

describe('whatever options stand together', () => {
  it.each(optionPairs)('%s', (_, check) => check());
});

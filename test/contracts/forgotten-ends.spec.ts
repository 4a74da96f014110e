import { everywhere } from '../support/contract.js';
import { forgottenEnds, forgottenEndsOfOne } from './forgotten-ends.contract.js';

const where = [
  'one Redis',
  'one Redis, strictly fair',
  'one Redis, replicated and confirmed',
  'a primary behind Sentinels',
  'a cluster',
];
const promise = 'P10 at once passed over, where the server has not heard of it, is';
everywhere(promise, forgottenEnds, {}, { where });
everywhere(promise, forgottenEndsOfOne, {}, { where, of: ['lock'] });

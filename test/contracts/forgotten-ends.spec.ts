import { everywhere } from '../support/contract.js';
import { forgottenEndsOfOne, forgottenEnds } from './forgotten-ends.contract.js';

const where = ['one Redis', 'one Redis, strictly fair', 'one Redis, replicated and confirmed'];
const promise = 'P10 at once passed over, where a promoted replica has not heard of it, is';
everywhere(promise, forgottenEnds, {}, { where });
everywhere(promise, forgottenEndsOfOne, {}, { where, of: ['lock'] });

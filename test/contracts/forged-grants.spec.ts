import { everywhere } from '../support/contract.js';
import { forgedGrants } from './forged-grants.contract.js';

const where = ['one Redis', 'one Redis, strictly fair', 'one Redis, replicated and confirmed'];
everywhere('P9 a forged grant', forgedGrants, {}, { where, of: ['lock'] });

import { everywhere } from '../support/contract.js';
import { discarding, handOverSeveral } from './hand-over-several.contract.js';

everywhere('handing over several', handOverSeveral, {}, { of: ['lock'] });
everywhere('discarding', discarding, {}, { of: ['lock'] });

import { everywhere } from '../support/contract.js';
import { conditions } from './conditions.contract.js';

everywhere('condition variables', conditions, {}, { of: ['lock'] });

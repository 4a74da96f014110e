import { everywhere } from '../support/contract.js';
import { permits } from './permits.contract.js';

everywhere('P1 permits', permits, {}, { of: ['lock'] });

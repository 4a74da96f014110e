import { everywhere } from '../support/contract.js';
import { manyKeys } from './many-keys.contract.js';

everywhere('several keys', manyKeys, {}, { of: ['lock'] });

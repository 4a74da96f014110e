import { everywhere } from '../support/contract.js';
import { handOver } from './hand-over.contract.js';

everywhere('handing over', handOver, {}, { of: ['lock'] });

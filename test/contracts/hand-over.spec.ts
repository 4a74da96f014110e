import { everywhere } from '../support/contract.js';
import { handOver, handOverOnRedis } from './hand-over.contract.js';

everywhere('handing over', handOver, handOverOnRedis, { of: ['lock'] });

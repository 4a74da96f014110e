import { everywhere } from '../support/contract.js';
import { permits, permitsOnRedis } from './permits.contract.js';

everywhere('P1 permits', permits, permitsOnRedis, { of: ['lock'] });

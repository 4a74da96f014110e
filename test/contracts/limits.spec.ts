import { everywhere } from '../support/contract.js';
import { limits, limitsOnRedis } from './limits.contract.js';

everywhere('P11 bounded work', limits, limitsOnRedis);

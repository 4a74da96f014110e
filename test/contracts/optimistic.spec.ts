import { everywhere } from '../support/contract.js';
import { optimistic, optimisticOnRedis } from './optimistic.contract.js';

everywhere('optimistic reads', optimistic, optimisticOnRedis, { of: ['lock'] });

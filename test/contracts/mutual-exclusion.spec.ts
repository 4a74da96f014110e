import { everywhere } from '../support/contract.js';
import { mutualExclusion, mutualExclusionOnRedis } from './mutual-exclusion.contract.js';

everywhere('P1 exclusion', mutualExclusion, mutualExclusionOnRedis);

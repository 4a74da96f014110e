import { everywhere } from '../support/contract.js';
import { sharedMode, sharedModeOnRedis } from './shared-mode.contract.js';

everywhere('P1 shared mode', sharedMode, sharedModeOnRedis, { of: ['lock'] });

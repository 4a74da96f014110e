import { everywhere } from '../support/contract.js';
import { fencing, fencingOnRedis } from './fencing.contract.js';

everywhere('P6 fencing', fencing, fencingOnRedis);

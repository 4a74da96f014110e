import { everywhere } from '../support/contract.js';
import { loss, lossOnRedis } from './loss.contract.js';

everywhere('P7 loss', loss, lossOnRedis);

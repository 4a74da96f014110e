import { everywhere } from '../support/contract.js';
import { order, orderOnRedis } from './order.contract.js';

everywhere('P2 order', order, orderOnRedis);

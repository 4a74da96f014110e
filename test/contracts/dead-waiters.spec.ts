import { everywhere } from '../support/contract.js';
import { deadWaiters, deadWaitersOnRedis } from './dead-waiters.contract.js';

everywhere('P10 the dead do not queue', deadWaiters, deadWaitersOnRedis);

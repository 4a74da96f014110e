import { everywhere } from '../support/contract.js';
import { idempotence, idempotenceOnRedis } from './idempotence.contract.js';

everywhere('P4 idempotence', idempotence, idempotenceOnRedis);

import { everywhere } from '../support/contract.js';
import { ownership, ownershipOnRedis } from './ownership.contract.js';

everywhere('P8 nobody else’s', ownership, ownershipOnRedis);

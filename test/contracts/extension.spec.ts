import { everywhere } from '../support/contract.js';
import { extension, extensionOnRedis } from './extension.contract.js';

everywhere('leases are extended', extension, extensionOnRedis);

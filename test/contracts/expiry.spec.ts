import { everywhere } from '../support/contract.js';
import { expiry, expiryOnRedis } from './expiry.contract.js';

everywhere('leases end', expiry, expiryOnRedis);

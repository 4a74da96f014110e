import { everywhere } from '../support/contract.js';
import { errors, errorsOnRedis } from './errors.contract.js';

everywhere('P12 trouble is never success', errors, errorsOnRedis);
